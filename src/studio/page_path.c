/*
 * page_path.c: the course as one path: a row of stops for each week, one for each day, with what is
 * done of it and where the learner is. A stop's ring fills with its exercises.
 */
#include "studio/pages.h"

#include "base/text.h"

#include <string.h>

/* What a week is about; one that is not here has no such line. */
static const struct {
    const char *week, *words;
} subjects[] = {
    {"preflight", "What the weeks build on, mostly in C. Already know this? Start with week 1."},
    {"week1", "From three loops on a CPU to a matrix product that keeps its data close."},
    {"week2", "Measure, move memory well, and feed the tensor cores."},
    {"week3", "From a dot product to FlashAttention."},
    {"week4", "Fewer bits for each number, and a kernel in production."},
};

/* One path's worth of a week: lessons first .. last - 1. */
struct week {
    unsigned first, last;
    unsigned solved, all;
    bool is_here;
};

struct page_day page_day_of(struct studio_request *request, const struct learn_lesson *lesson)
{
    struct page_day day = {0};
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        if (lesson->exercise[i].is_kata)
            continue;
        struct learn_state state =
            learn_progress_state(request->studio->options.progress, &lesson->exercise[i]);
        day.all++;
        day.solved += state.passed;
        day.tried += state.attempts > 0;
    }
    day.right = learn_progress_right(request->studio->options.progress, lesson);
    day.word = day.all && day.solved == day.all ? "solved" : day.tried ? "tried" : "open";
    return day;
}

/* The number in a ring that is as full as the day is done. */
static void show_ring(struct lk_buf *out, const struct page_day *day, unsigned number)
{
    double part = day->all ? 100.0 * day->solved / day->all : 0;
    lk_buf_printf(out, "<svg class=\"ring\" viewBox=\"0 0 40 40\" aria-hidden=\"true\"><circle "
                       "class=\"ring-track\" cx=\"20\" cy=\"20\" r=\"17\"/>");
    if (part > 0)
        lk_buf_printf(out,
                      "<circle class=\"ring-done\" cx=\"20\" cy=\"20\" r=\"17\" "
                      "pathLength=\"100\" stroke-dasharray=\"%.1f 100\" "
                      "transform=\"rotate(-90 20 20)\"/>",
                      part);
    if (part >= 100)
        lk_buf_printf(out, "<path class=\"ring-check\" d=\"M13 20.5l5 5 9.5-11\"/></svg>");
    else
        lk_buf_printf(out, "<text x=\"20\" y=\"25\">%u</text></svg>", number);
}

static void show_exercises(struct studio_request *request, struct lk_buf *out,
                           const struct learn_lesson *lesson)
{
    lk_buf_printf(out, "<ul class=\"exercises\">");
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        struct learn_state state =
            learn_progress_state(request->studio->options.progress, exercise);
        const char *word = state.passed ? "solved" : state.attempts ? "tried" : "open";
        lk_buf_printf(out, "<li data-exercise=\"%s\" data-state=\"%s\"><a title=\"", exercise->key,
                      word);
        lk_buf_html(out, exercise->title);
        lk_buf_printf(out, "\" href=\"");
        page_place(out, exercise);
        lk_buf_printf(out, "\">%s</a>%s<span class=\"hidden\">, %s</span></li>\n", exercise->name,
                      exercise->is_kata ? " <span class=\"kata\">kata</span>" : "", word);
    }
    lk_buf_printf(out, "</ul>");
}

static void show_stop(struct studio_request *request, struct lk_buf *out,
                      const struct learn_lesson *lesson, unsigned number, bool is_here)
{
    struct page_day day = page_day_of(request, lesson);
    lk_buf_printf(out, "<li class=\"stop\" data-lesson=\"%s\" data-state=\"%s\"%s>", lesson->id,
                  day.word, is_here ? " aria-current=\"step\"" : "");
    show_ring(out, &day, number);
    lk_buf_printf(out, "<div class=\"stop-words\">%s<h3><a href=\"/lesson/%s\">",
                  is_here ? "<p class=\"here\">You are here</p>" : "", lesson->id);
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, "</a></h3>\n<p class=\"stop-facts\">%u min", lesson->minutes);
    if (lesson->question_count && day.right)
        lk_buf_printf(out, " \302\267 quiz %u of %u", day.right, lesson->question_count);
    lk_buf_printf(out, "</p></div>\n");
    show_exercises(request, out, lesson);
    lk_buf_printf(out, "</li>\n");
}

static void show_week(struct studio_request *request, struct lk_buf *out, const struct week *week,
                      const struct learn_lesson *here)
{
    const struct learn_course *course = request->studio->options.course;
    const char *id = course->lesson[week->first]->id;
    int length = (int)strcspn(id, "/");
    lk_buf_printf(out, "<section class=\"week%s\" id=\"%.*s\"><header class=\"week-head\"><h2>",
                  week->is_here ? " week-here" : "", length, id);
    html_words(out, id, (size_t)length);
    lk_buf_printf(out, "</h2>");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strncmp(id, subjects[i].week, (size_t)length) == 0 && !subjects[i].week[length])
            lk_buf_printf(out, "<p>%s</p>", subjects[i].words);
    if (!request->studio->is_site)
        lk_buf_printf(out, "<p class=\"week-count\">%u of %u</p>", week->solved, week->all);
    lk_buf_printf(out, "</header>\n<ol class=\"stops\">\n");
    for (unsigned i = week->first; i < week->last; i++)
        show_stop(request, out, course->lesson[i], i - week->first + 1, course->lesson[i] == here);
    lk_buf_printf(out, "</ol>\n");
    if (request->studio->folder && !learn_is_before(course->lesson[week->first])) {
        lk_buf_printf(out,
                      "<details class=\"reach-of\"%s><summary>What your kernels reach this "
                      "week</summary><div class=\"ladders\">\n",
                      week->is_here ? " open" : "");
        page_ladder(request, out, week->first);
        lk_buf_printf(out, "</div></details>\n");
    }
    lk_buf_printf(out, "</section>\n");
}

unsigned page_week_end(const struct learn_course *course, unsigned first)
{
    const char *id = course->lesson[first]->id;
    size_t length = strcspn(id, "/") + 1;
    unsigned last = first;
    while (last < course->count && strncmp(course->lesson[last]->id, id, length) == 0)
        last++;
    return last;
}

void page_path(struct studio_request *request, struct lk_buf *out, const struct learn_lesson *here)
{
    const struct learn_course *course = request->studio->options.course;
    lk_buf_printf(out, "<div class=\"path\">\n");
    for (unsigned first = 0; first < course->count;) {
        struct week week = {.first = first, .last = page_week_end(course, first)};
        for (unsigned i = first; i < week.last; i++) {
            struct page_day day = page_day_of(request, course->lesson[i]);
            week.solved += day.solved;
            week.all += day.all;
            week.is_here = week.is_here || course->lesson[i] == here;
        }
        show_week(request, out, &week, here);
        first = week.last;
    }
    lk_buf_printf(out, "</div>\n");
}
