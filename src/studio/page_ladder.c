/*
 * page_ladder.c: what the learner's kernels reach, week by week: GFLOP/s or GB/s of the large size,
 * as given before an exercise is solved, the learner's best after. It grows with every exercise.
 */
#include "studio/pages.h"

#include "learn/large.h"

#include <stdio.h>

struct rung {
    const struct learn_exercise *exercise;
    double before, yours, best; /* a microsecond; 0: not known */
};

static bool read_rung(struct studio_request *request, const struct learn_exercise *exercise,
                      struct rung *rung)
{
    double work = large_work(exercise);
    json_t *best = learn_progress_best(request->studio->options.progress, exercise);
    double us = json_number_value(json_object_get(best, "large_us"));
    json_decref(best);
    *rung = (struct rung){.exercise = exercise};
    if (work <= 0 || exercise->best.large_us <= 0)
        return false;
    rung->before = exercise->before_us > 0 ? work / exercise->before_us : 0;
    rung->yours = us > 0 ? work / us : 0;
    rung->best = work / exercise->best.large_us;
    return true;
}

static void show_rung(struct lk_buf *out, const struct rung *rung, double most)
{
    const struct learn_exercise *exercise = rung->exercise;
    double value = rung->yours > 0 ? rung->yours : rung->before;
    char rate[32];
    learn_rate(rate, value, exercise->work_is_flops, 1);
    lk_buf_printf(out, "<li data-rung=\"%s\" data-state=\"%s\"><a href=\"", exercise->key,
                  rung->yours > 0 ? "solved" : "open");
    page_place(out, exercise);
    lk_buf_printf(out,
                  "\">%s</a><svg class=\"rung\" viewBox=\"0 0 100 1\" "
                  "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"reach\" "
                  "width=\"%.1f\" height=\"1\"/><rect class=\"fill\" width=\"%.1f\" "
                  "height=\"1\"/></svg><span class=\"rate\">%s</span></li>\n",
                  exercise->name, 100 * rung->best / most, 100 * value / most,
                  value > 0 ? rate : "not yet");
}

/* Rows of one unit: a bar of FLOPs beside one of bytes would say nothing. */
static void show_unit(struct studio_request *request, struct lk_buf *out, unsigned first,
                      unsigned last, bool is_flops)
{
    const struct learn_course *course = request->studio->options.course;
    struct rung rung;
    double most = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        bool any = false;
        for (unsigned i = first; i < last; i++)
            for (unsigned j = 0; j < course->lesson[i]->exercise_count; j++) {
                const struct learn_exercise *exercise = &course->lesson[i]->exercise[j];
                if (exercise->work_is_flops != is_flops || exercise->is_kata ||
                    !read_rung(request, exercise, &rung))
                    continue;
                if (pass == 0)
                    most = rung.best > most ? rung.best : most;
                else if (most > 0) {
                    if (!any)
                        lk_buf_printf(
                            out,
                            "<figure class=\"ladder\" data-unit=\"%s\"><figcaption>%s on "
                            "an H200, modelled. Green: yours; grey: as given; pale: what is "
                            "possible"
                            "</figcaption><ul>",
                            is_flops ? "flops" : "bytes",
                            is_flops ? "Operations a second" : "Bytes a second");
                    show_rung(out, &rung, most);
                    any = true;
                }
            }
        if (any)
            lk_buf_printf(out, "</ul></figure>\n");
    }
}

void page_ladder(struct studio_request *request, struct lk_buf *out, unsigned first)
{
    const struct learn_course *course = request->studio->options.course;
    unsigned last = page_week_end(course, first);
    show_unit(request, out, first, last, false);
    show_unit(request, out, first, last, true);
}
