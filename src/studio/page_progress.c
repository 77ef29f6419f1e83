/*
 * page_progress.c: what the learner has done: days in a row, exercises with attempts, hints and
 * best counters, quizzes, what comes next, and all of it as a file.
 */
#include "studio/pages.h"

#include "base/text.h"

#include <string.h>

static void show_best(struct studio_request *request, struct lk_buf *out,
                      const struct learn_exercise *exercise)
{
    json_t *best = learn_progress_best(request->studio->options.progress, exercise), *value;
    const char *name;
    bool first = true;
    json_object_foreach(best, name, value)
    {
        lk_buf_printf(out, "%s<code>", first ? "" : "<br>");
        lk_buf_html(out, name);
        lk_buf_printf(out, "</code> %.6g", json_number_value(value));
        first = false;
    }
    json_decref(best);
}

static void show_exercise(struct studio_request *request, struct lk_buf *out,
                          const struct learn_exercise *exercise)
{
    struct learn_state state = learn_progress_state(request->studio->options.progress, exercise);
    const char *mark = state.passed ? "solved" : state.attempts ? "tried" : "open";
    lk_buf_printf(out, "<tr data-exercise=\"%s\" data-state=\"%s\"><th scope=\"row\"><a href=\"",
                  exercise->key, mark);
    page_place(out, exercise);
    lk_buf_printf(out,
                  "\">%s</a></th><td><span class=\"mark %s\">%s</span></td><td>%u</td>"
                  "<td>%u%s</td><td>",
                  exercise->name, mark, mark, state.attempts, state.hints,
                  state.saw_solution ? ", solution" : "");
    show_best(request, out, exercise);
    lk_buf_printf(out, "</td></tr>\n");
}

static void show_lesson(struct studio_request *request, struct lk_buf *out,
                        const struct learn_lesson *lesson)
{
    lk_buf_printf(out, "<section data-lesson=\"%s\"><h2><a href=\"/lesson/%s\">", lesson->id,
                  lesson->id);
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, "</a></h2>\n");
    if (lesson->question_count)
        lk_buf_printf(out, "<p>Quiz: %u of %u right</p>\n",
                      learn_progress_right(request->studio->options.progress, lesson),
                      lesson->question_count);
    if (lesson->exercise_count) {
        lk_buf_printf(out, "<div class=\"scroll\"><table><thead><tr><th>exercise</th><th>state</th>"
                           "<th>attempts</th><th>hints</th><th>best counters</th></tr></thead>"
                           "<tbody>\n");
        for (unsigned i = 0; i < lesson->exercise_count; i++)
            show_exercise(request, out, &lesson->exercise[i]);
        lk_buf_printf(out, "</tbody></table></div>\n");
    }
    lk_buf_printf(out, "</section>\n");
}

void page_progress(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_course *course = request->studio->options.course;
    struct learn_progress *progress = request->studio->options.progress;
    const struct learn_exercise *next = learner_first_unsolved(course, progress);
    struct lk_buf *out = &reply->body;
    unsigned solved, all, streak = learn_progress_streak(progress);
    page_begin(request, reply, &(struct studio_page){.title = "Progress", .body = "progress"});
    learner_count(course, progress, &solved, &all);
    lk_buf_printf(out,
                  "<h1>Progress</h1>\n<p class=\"bar\"><progress id=\"solved\" max=\"%u\" "
                  "value=\"%u\"></progress> <span>%u of %u exercises solved</span></p>\n"
                  "<p>Days in a row: <strong id=\"streak\">%u</strong></p>\n",
                  all, solved, solved, all, streak);
    if (next) {
        lk_buf_printf(out, "<p>Next: <a id=\"next\" href=\"");
        page_place(out, next);
        lk_buf_printf(out, "\">%s</a>, ", next->name);
        lk_buf_html(out, next->title);
        lk_buf_printf(out, "</p>\n");
    }
    lk_buf_printf(out, "<p><a id=\"export\" href=\"/api/progress?download=1\">All of it as a JSON "
                       "file</a></p>\n");
    for (unsigned i = 0; i < course->count; i++)
        show_lesson(request, out, course->lesson[i]);
    page_end(reply);
}
