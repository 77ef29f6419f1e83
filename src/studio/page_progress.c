/*
 * page_progress.c: what the learner has done: one grid of days with a dot for each exercise; below
 * it, week by week, every exercise with attempts, hints and best counters; and all of it as a file.
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
        char text[32];
        bool is_large = strcmp(name, "large_us") == 0;
        lk_buf_printf(out, "%s", first ? "" : "<br>");
        first = false;
        if (is_large || strcmp(name, "time_us") == 0) {
            lk_buf_printf(out, "%s%s", learn_duration(text, json_number_value(value)),
                          is_large ? " at the large size" : ", modelled");
            continue;
        }
        lk_buf_printf(out, "<code>");
        lk_buf_html(out, name);
        lk_buf_printf(out, "</code> %.4g", json_number_value(value));
    }
    json_decref(best);
}

static const char *word_of(struct learn_state state)
{
    return state.passed ? "solved" : state.attempts ? "tried" : "open";
}

static void show_exercise(struct studio_request *request, struct lk_buf *out,
                          const struct learn_exercise *exercise)
{
    struct learn_state state = learn_progress_state(request->studio->options.progress, exercise);
    const char *word = word_of(state);
    lk_buf_printf(out, "<tr data-exercise=\"%s\" data-state=\"%s\"><th scope=\"row\"><a href=\"",
                  exercise->key, word);
    page_place(out, exercise);
    lk_buf_printf(out, "\">%s</a>%s</th><td class=\"state-word\" data-state=\"%s\">%s</td><td>",
                  exercise->name, exercise->is_kata ? " <span class=\"kata\">kata</span>" : "",
                  word, word);
    if (state.attempts) /* a table of zeros says nothing */
        lk_buf_printf(out, "%u", state.attempts);
    lk_buf_printf(out, "</td><td>");
    if (state.hints || state.saw_solution)
        lk_buf_printf(out, "%u%s", state.hints, state.saw_solution ? ", solution" : "");
    lk_buf_printf(out, "</td><td class=\"counters-cell\">");
    show_best(request, out, exercise);
    lk_buf_printf(out, "</td></tr>\n");
}

static void show_lesson(struct studio_request *request, struct lk_buf *out,
                        const struct learn_lesson *lesson)
{
    lk_buf_printf(out, "<tbody data-lesson=\"%s\"><tr><th scope=\"rowgroup\" colspan=\"5\">",
                  lesson->id);
    page_when(out, lesson);
    lk_buf_printf(out, " \302\267 <a href=\"/lesson/%s\">", lesson->id);
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, "</a>");
    if (lesson->question_count)
        lk_buf_printf(out, " <span class=\"quiz-of\">Quiz: %u of %u right</span>",
                      learn_progress_right(request->studio->options.progress, lesson),
                      lesson->question_count);
    lk_buf_printf(out, "</th></tr>\n");
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        show_exercise(request, out, &lesson->exercise[i]);
    lk_buf_printf(out, "</tbody>\n");
}

/* A day: a dot for each exercise, and its quiz. */
static void show_cell(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *lesson, bool is_here)
{
    struct page_day day = page_day_of(request, lesson);
    lk_buf_printf(out, "<a href=\"/lesson/%s\" data-day=\"%s\" data-state=\"%s\"%s title=\"",
                  lesson->id, lesson->id, day.word, is_here ? " aria-current=\"step\"" : "");
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, "\"><span class=\"hidden\">");
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, ": %u of %u exercises solved</span>", day.solved, day.all);
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (!lesson->exercise[i].is_kata)
            lk_buf_printf(out, "<span class=\"day-dot %s\"></span>",
                          word_of(learn_progress_state(request->studio->options.progress,
                                                       &lesson->exercise[i])));
    if (lesson->question_count)
        lk_buf_printf(out,
                      "<span class=\"quiz-score\"><span class=\"quiz-word\">quiz "
                      "</span>%u/%u</span>",
                      day.right, lesson->question_count);
    lk_buf_printf(out, "</a>\n");
}

static void show_grid(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *here)
{
    enum { DAYS = 7 };
    const struct learn_course *course = request->studio->options.course;
    lk_buf_printf(out, "<div class=\"grid-of-days\" role=\"group\" aria-label=\"All days\"><span>"
                       "</span>");
    for (unsigned day = 1; day <= DAYS; day++)
        lk_buf_printf(
            out, "<span class=\"column-name\"><span class=\"quiz-word\">Day </span>%u</span>", day);
    lk_buf_printf(out, "\n");
    for (unsigned first = 0, last; first < course->count; first = last) {
        const char *id = course->lesson[first]->id;
        last = page_week_end(course, first);
        for (unsigned i = first; i < last; i++) {
            if ((i - first) % DAYS == 0) {
                lk_buf_printf(out, "<span class=\"row-name\">");
                if (i == first)
                    html_words(out, id, strcspn(id, "/"));
                lk_buf_printf(out, "</span>");
            }
            show_cell(request, out, course->lesson[i], course->lesson[i] == here);
        }
        for (unsigned i = last - first; i % DAYS; i++)
            lk_buf_printf(out, "<span></span>");
    }
    lk_buf_printf(out,
                  "</div>\n<p class=\"dots-legend\"><span class=\"day-dot solved\"></span>solved "
                  "<span class=\"day-dot tried\"></span>tried <span class=\"day-dot open\"></span>"
                  "open</p>\n");
}

static void show_facts(struct studio_request *request, struct lk_buf *out,
                       const struct learn_exercise *next)
{
    struct learn_progress *progress = request->studio->options.progress;
    unsigned solved, all;
    learner_count(request->studio->options.course, progress, &solved, &all);
    lk_buf_printf(out,
                  "<dl class=\"progress-facts\"><div><dt>Solved</dt><dd id=\"solved\">%u of %u "
                  "exercises solved</dd></div><div><dt>Days in a row</dt><dd id=\"streak\">%u</dd>"
                  "</div>\n",
                  solved, all, learn_progress_streak(progress));
    if (next) {
        lk_buf_printf(out, "<div><dt>Next</dt><dd><a id=\"next\" href=\"");
        page_place(out, next);
        lk_buf_printf(out, "\">%s</a></dd></div>\n", next->name);
    }
    lk_buf_printf(out, "</dl>\n");
}

/* Every exercise of a week; open where something has been tried, and where the learner is. */
static void show_week(struct studio_request *request, struct lk_buf *out, unsigned first,
                      unsigned last, const struct learn_lesson *here)
{
    const struct learn_course *course = request->studio->options.course;
    const char *id = course->lesson[first]->id;
    unsigned solved = 0, all = 0;
    bool is_open = false;
    for (unsigned i = first; i < last; i++) {
        struct page_day day = page_day_of(request, course->lesson[i]);
        solved += day.solved;
        all += day.all;
        is_open |= day.tried > 0 || course->lesson[i] == here;
    }
    lk_buf_printf(out, "<details class=\"week-table\"%s><summary><strong>", is_open ? " open" : "");
    html_words(out, id, strcspn(id, "/"));
    lk_buf_printf(out, "</strong> <span class=\"soft\">%u of %u</span></summary>\n", solved, all);
    lk_buf_printf(out, "<table class=\"all-exercises\"><thead><tr><th>exercise</th><th>state</th>"
                       "<th>attempts</th><th>hints</th><th>best</th></tr></thead>\n");
    for (unsigned i = first; i < last; i++)
        show_lesson(request, out, course->lesson[i]);
    lk_buf_printf(out, "</table></details>\n");
}

void page_progress(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_course *course = request->studio->options.course;
    const struct learn_exercise *next = page_goal(request);
    struct lk_buf *out = &reply->body;
    page_begin(request, reply, &(struct studio_page){.title = "Progress", .body = "progress"});
    lk_buf_printf(out, "<h1>Progress</h1>\n");
    show_facts(request, out, next);
    show_grid(request, out, next ? next->lesson : NULL);
    lk_buf_printf(out, "<h2>Every exercise</h2>\n");
    for (unsigned first = 0, last; first < course->count; first = last) {
        last = page_week_end(course, first);
        show_week(request, out, first, last, next ? next->lesson : NULL);
    }
    lk_buf_printf(out, "<p><a id=\"export\" href=\"/api/progress?download=1\">All of it "
                       "as a JSON file</a></p>\n");
    page_end(reply);
}
