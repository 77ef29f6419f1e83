/*
 * page_reading.c: exercises and quiz of a lesson for readers: in a site there is nobody to grade
 * for, so the exercise is shown as it is given, with its hints folded, and each question with its
 * answer folded.
 */
#include "studio/pages.h"

#include "base/text.h"
#include "host/files.h"

#include <stdlib.h>

static void show_folded(struct lk_buf *out, const char *words, const char *text, bool is_code)
{
    lk_buf_printf(out, "<details><summary>%s</summary>%s", words, is_code ? "<pre>" : "<p>");
    lk_buf_html(out, text);
    lk_buf_printf(out, "%s</details>\n", is_code ? "</pre>" : "</p>");
}

static void show_exercise(struct lk_buf *out, const struct learn_exercise *exercise)
{
    static const char *const words[] = {"Hint: the concept", "Hint: the line", "Hint: the change"};
    char *message = NULL;
    char *text = host_read_text(learn_path(exercise, learn_given(exercise)), &message);
    lk_buf_printf(out, "<section class=\"reading\" id=\"exercise-%s\"><h3><code>%s</code> ",
                  exercise->name, exercise->name);
    lk_buf_html(out, exercise->title);
    lk_buf_printf(out, "</h3>\n");
    show_folded(out, "As it is given", text ? text : message, true);
    for (unsigned i = 0; i < LEARN_HINTS; i++)
        if (exercise->hint[i])
            show_folded(out, words[i], exercise->hint[i], i == LEARN_HINTS - 1);
    lk_buf_printf(out,
                  "<p class=\"soft\">To solve it: <code>lockstep learn start %s</code></p>"
                  "</section>\n",
                  exercise->key);
    free(text);
    free(message);
}

void page_reading(struct lk_buf *out, const struct learn_lesson *lesson)
{
    if (lesson->exercise_count)
        lk_buf_printf(out, "<section id=\"exercises\"><h2>Exercises</h2>\n");
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        show_exercise(out, &lesson->exercise[i]);
    if (lesson->exercise_count)
        lk_buf_printf(out, "</section>\n");
    if (lesson->question_count)
        lk_buf_printf(out, "<section id=\"quiz\"><h2>Quiz</h2>\n<ol>\n");
    for (unsigned i = 0; i < lesson->question_count; i++) {
        const struct learn_question *question = &lesson->question[i];
        lk_buf_printf(out, "<li><p><strong>");
        lk_buf_html(out, question->question);
        lk_buf_printf(out, "</strong></p><ol type=\"a\">");
        for (unsigned k = 0; k < question->choice_count; k++) {
            lk_buf_printf(out, "<li>");
            lk_buf_html(out, question->choices[k]);
            lk_buf_printf(out, "</li>");
        }
        lk_buf_printf(out, "</ol>");
        char *answer = lk_format("%c. %s", 'a' + (int)question->answer, question->why);
        show_folded(out, "Answer", answer, false);
        lk_buf_printf(out, "</li>\n");
        free(answer);
    }
    if (lesson->question_count)
        lk_buf_printf(out, "</ol></section>\n");
}
