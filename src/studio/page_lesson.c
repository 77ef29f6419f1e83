/*
 * page_lesson.c: a lesson: its text and quiz beside one of its exercises, with editor and results.
 * Without JavaScript the text, the learner's file and the quiz can be read and the quiz answered.
 */
#include "studio/pages.h"

#include "base/text.h"
#include "base/utf8.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

static const struct learn_lesson *find_lesson(const struct learn_course *course, const char *id)
{
    for (unsigned i = 0; i < course->count; i++)
        if (strcmp(course->lesson[i]->id, id) == 0)
            return course->lesson[i];
    return NULL;
}

/* ?exercise=add, or the first that is not solved. */
static const struct learn_exercise *choose(struct studio_request *request,
                                           const struct learn_lesson *lesson)
{
    const char *name = studio_query(request, "exercise");
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (strcmp(lesson->exercise[i].name, name) == 0)
            return &lesson->exercise[i];
    return learner_first_open(lesson, request->studio->options.progress);
}

/* Quiz ------------------------------------------------------------------------------------------*/

static void show_question(struct lk_buf *out, const struct learn_question *question,
                          unsigned number, unsigned chosen)
{
    bool right = chosen == question->answer + 1;
    lk_buf_printf(out, "<fieldset data-question=\"%u\"><legend>%u. ", number, number + 1);
    lk_buf_html(out, question->question);
    lk_buf_printf(out, "</legend>\n");
    for (unsigned i = 0; i < question->choice_count; i++) {
        lk_buf_printf(out, "<label><input type=\"radio\" name=\"q%u\" value=\"%u\"%s> <span>",
                      number, i + 1, chosen == i + 1 ? " checked" : "");
        lk_buf_html(out, question->choices[i]);
        lk_buf_printf(out, "</span></label>\n");
    }
    lk_buf_printf(out, "<p class=\"why %s\" aria-live=\"polite\">",
                  !chosen ? ""
                  : right ? "good"
                          : "bad");
    if (chosen) {
        lk_buf_printf(out, "<strong>%s</strong> ", right ? "Right." : "No.");
        lk_buf_html(out, question->why);
    }
    lk_buf_printf(out, "</p></fieldset>\n");
}

static void show_quiz(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *lesson, const struct learn_exercise *exercise)
{
    if (lesson->question_count == 0)
        return;
    unsigned *choices = lk_alloc(lesson->question_count * sizeof *choices);
    learn_progress_choices(request->studio->options.progress, lesson, choices);
    lk_buf_printf(out,
                  "<section id=\"quiz\"><h2>Quiz</h2>\n<form method=\"post\" action=\"/quiz/%s"
                  "?exercise=%s\" data-lesson=\"%s\">\n",
                  lesson->id, exercise ? exercise->name : "", lesson->id);
    for (unsigned i = 0; i < lesson->question_count; i++)
        show_question(out, &lesson->question[i], i, choices[i]);
    lk_buf_printf(out,
                  "<button id=\"answer\">Answer</button> <span id=\"quiz-score\" role=\"status"
                  "\">%u of %u right</span></form></section>\n",
                  learn_progress_right(request->studio->options.progress, lesson),
                  lesson->question_count);
    free(choices);
}

void page_quiz(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_lesson *lesson = find_lesson(request->studio->options.course, request->rest);
    if (!lesson) {
        page_missing(request, reply, "There is no such lesson.");
        return;
    }
    for (unsigned i = 0; i < lesson->question_count; i++) {
        char field[16], *text;
        snprintf(field, sizeof field, "q%u", i);
        text = studio_field(request, field);
        unsigned long choice = text ? strtoul(text, NULL, 10) : 0;
        free(text);
        if (choice == 0 || choice > lesson->question[i].choice_count)
            continue;
        if (!learn_progress_answer(request->studio->options.progress, lesson, i, (unsigned)choice,
                                   choice == lesson->question[i].answer + 1)) {
            reply_refusal(reply, 500, "Your answer was not saved: %s",
                          learn_progress_error(request->studio->options.progress));
            return;
        }
    }
    const struct learn_exercise *exercise = choose(request, lesson);
    reply_see(reply,
              lk_format("/lesson/%s?exercise=%s#quiz", lesson->id, exercise ? exercise->name : ""));
}

/* The exercise ----------------------------------------------------------------------------------*/

static void show_tabs(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *lesson, const struct learn_exercise *shown)
{
    lk_buf_printf(out, "<nav class=\"tabs\" aria-label=\"Exercises\">");
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        bool passed = learn_progress_state(request->studio->options.progress, exercise).passed;
        lk_buf_printf(out, "<a data-exercise=\"%s\" data-state=\"%s\" href=\"", exercise->key,
                      passed ? "solved" : "open");
        page_place(out, exercise);
        lk_buf_printf(out, "\"%s>%s</a>", exercise == shown ? " aria-current=\"page\"" : "",
                      exercise->name);
    }
    lk_buf_printf(out, "</nav>\n");
}

static void show_buttons(struct lk_buf *out)
{
    lk_buf_printf(
        out, "<div class=\"buttons\" hidden><button type=\"button\" id=\"run\" class=\"primary\" "
             "title=\"Ctrl-Enter\">Run</button>"
             "<button type=\"button\" id=\"hint\">Hint</button>"
             "<button type=\"button\" id=\"solution\">Solution</button>"
             "<button type=\"button\" id=\"reset\">Reset</button>"
             "<span id=\"status\" role=\"status\"></span></div>\n"
             "<p class=\"soft keys\" hidden><kbd>Ctrl-Enter</kbd> saves and runs; <kbd>Esc</kbd>, "
             "then <kbd>Tab</kbd>, leaves the editor.</p>\n"
             "<div id=\"notice\" role=\"alert\"></div>\n"
             "<section id=\"help\" aria-live=\"polite\" aria-label=\"Hints\"></section>\n"
             "<section id=\"verdict\" aria-live=\"polite\" aria-label=\"Verdict\"></section>\n"
             "<noscript><p>Editing and running here need JavaScript. In a terminal, "
             "<code>lockstep learn</code> grades the file whenever you save it.</p></noscript>\n");
}

static void show_exercise(struct studio_request *request, struct lk_buf *out,
                          const struct learn_exercise *exercise, const char *problem)
{
    char *path = learner_file(request->studio->folder, exercise), *message = NULL;
    char *text = learner_read(path, &message);
    const char *name = strrchr(path, '/') + 1;
    lk_replace_bad_utf8(text);
    lk_buf_printf(out, "<p class=\"task\"><strong>%s</strong>%s: ", name,
                  exercise->is_kata ? " (a kata: do it again any day)" : "");
    lk_buf_html(out, exercise->title);
    lk_buf_printf(out, "</p>\n<p class=\"soft\" id=\"path\">");
    html_path(out, path);
    lk_buf_printf(out, "</p>\n");
    if (problem || message) {
        lk_buf_printf(out, "<p class=\"bad\" id=\"file-problem\">");
        lk_buf_html(out, problem ? problem : message);
        lk_buf_printf(out, "</p>\n");
    }
    lk_buf_printf(out,
                  "<div id=\"editor\"><label class=\"hidden\" for=\"code\">Your kernel, %s"
                  "</label><textarea id=\"code\" spellcheck=\"false\" autocomplete=\"off\" "
                  "autocapitalize=\"off\" rows=\"24\" readonly>\n",
                  name);
    lk_buf_html(out, text ? text : "");
    lk_buf_printf(out, "</textarea></div>\n");
    show_buttons(out);
    free(text);
    free(message);
    free(path);
}

static void show_work(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *lesson, const struct learn_exercise *exercise)
{
    struct studio *studio = request->studio;
    char *problem = NULL;
    lk_buf_printf(out, "<section id=\"work\" aria-label=\"Exercise\"");
    if (!studio->folder) {
        lk_buf_printf(out, "><p>You have no folder for the exercises yet. <a href=\"/\">The first "
                           "page</a> makes one.</p></section>\n");
        return;
    }
    if (learner_lay_out(studio->folder, exercise, &problem) && !exercise->is_kata)
        learn_progress_set(studio->options.progress, "current", exercise->key);
    lk_buf_printf(out, " data-exercise=\"%s\" data-language=\"%s\">\n", exercise->key,
                  exercise->is_python ? "python"
                  : exercise->is_c    ? "c"
                                      : "cuda");
    show_tabs(request, out, lesson, exercise);
    show_exercise(request, out, exercise, problem);
    lk_buf_printf(out, "</section>\n");
    free(problem);
}

void page_lesson(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_lesson *lesson = find_lesson(request->studio->options.course, request->rest);
    char *message = NULL;
    bool math;
    if (!lesson) {
        page_missing(request, reply, "There is no lesson '%s'.", request->rest);
        return;
    }
    bool is_site = request->studio->is_site;
    const struct learn_exercise *exercise = is_site ? NULL : choose(request, lesson);
    char *path = lk_format("%s/lesson.md", lesson->folder), *text = host_read_text(path, &message);
    struct lk_buf html = {0};
    markdown_html(&html, lesson, text ? text : message, exercise ? exercise->key : NULL, &math);
    page_begin(request, reply,
               &(struct studio_page){.title = lesson->title,
                                     .script = "lesson",
                                     .body = "lesson",
                                     .editor = exercise != NULL,
                                     .math = math});
    lk_buf_printf(&reply->body,
                  "<div class=\"columns\" data-lesson=\"%s\">\n<div id=\"text\">"
                  "<article>\n",
                  lesson->id);
    page_where(request, &reply->body, lesson);
    page_sections(&reply->body, html.data, lesson->question_count > 0);
    lk_buf_add(&reply->body, html.data, html.size);
    lk_buf_printf(&reply->body, "</article>\n");
    if (is_site)
        page_reading(&reply->body, lesson);
    else
        show_quiz(request, &reply->body, lesson, exercise);
    page_turns(request, &reply->body, lesson);
    lk_buf_printf(&reply->body, "</div>\n");
    if (exercise)
        show_work(request, &reply->body, lesson, exercise);
    lk_buf_printf(&reply->body, "</div>\n");
    if (exercise)
        lk_buf_printf(&reply->body, "<nav class=\"sides\" aria-label=\"Lesson and code\"><a href="
                                    "\"#text\">Lesson</a><a href=\"#work\">Code</a></nav>\n");
    page_end(reply);
    lk_buf_free(&html);
    free(text);
    free(message);
    free(path);
}
