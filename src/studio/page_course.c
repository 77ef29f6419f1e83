/*
 * page_course.c: the first page: the course with what is done of it, and where to go on. Before the
 * learner has a folder it offers to make one.
 */
#include "studio/pages.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void show_welcome(struct studio_request *request, struct lk_buf *out)
{
    lk_buf_printf(out,
                  "<section id=\"welcome\"><h1>Learn to write GPU kernels, by writing them</h1>\n"
                  "<p>No GPU is needed: your kernels run on a simulated one, here. Exercises are "
                  "broken on purpose. You fix them, and every run tells you whether the result is "
                  "right and what it cost.</p>\n"
                  "<form method=\"post\" action=\"/begin\"><p>Your files will be in <code>");
    html_path(out, request->studio->options.begin ? request->studio->options.begin : "");
    lk_buf_printf(out, "</code>. They are yours; nothing else is written there.</p>\n"
                       "<button id=\"begin\" class=\"primary\">Begin</button></form>\n"
                       "<p class=\"soft\">Another folder: end the studio and start it with "
                       "<code>lockstep studio --folder DIR</code>.</p></section>\n");
}

/* It is laid out fresh when its page is opened. */
static void show_kata(struct lk_buf *out, const struct learn_exercise *kata)
{
    if (!kata)
        return;
    lk_buf_printf(out, "<p>Today's kata, a few minutes on an empty page: <a id=\"kata\" href=\"");
    page_place(out, kata);
    lk_buf_printf(out, "\">%s</a>, ", kata->name);
    lk_buf_html(out, kata->title);
    lk_buf_printf(out, "</p>\n");
}

static void show_place(struct studio_request *request, struct lk_buf *out)
{
    struct studio *studio = request->studio;
    const struct learn_course *course = studio->options.course;
    struct learn_progress *progress = studio->options.progress;
    const struct learn_exercise *at = learner_current(course, progress);
    unsigned solved, all;
    learner_count(course, progress, &solved, &all);
    if (at && learn_progress_state(progress, at).passed) {
        const struct learn_exercise *open = learner_first_unsolved(course, progress);
        at = open ? open : at;
    }
    lk_buf_printf(out,
                  "<section id=\"place\"><h1>The course</h1>\n<p class=\"bar\"><progress "
                  "id=\"solved\" max=\"%u\" value=\"%u\"></progress> <span>%u of %u exercises "
                  "solved</span></p>\n",
                  all, solved, solved, all);
    if (at && solved < all) {
        lk_buf_printf(out, "<p><a id=\"go-on\" class=\"button primary\" href=\"");
        page_place(out, at);
        lk_buf_printf(out, "\">%s: ",
                      solved || learn_progress_state(progress, at).attempts ? "Go on" : "Begin");
        lk_buf_html(out, at->lesson->title);
        lk_buf_printf(out, "</a></p>\n");
    } else if (at) {
        lk_buf_printf(out, "<p>All exercises are solved.</p>\n");
    }
    show_kata(out, learner_kata(course, progress));
    lk_buf_printf(out, "</section>\n");
}

static void show_exercises(struct studio_request *request, struct lk_buf *out,
                           const struct learn_lesson *lesson)
{
    lk_buf_printf(out, "<ul class=\"exercises\">");
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        struct learn_state state =
            learn_progress_state(request->studio->options.progress, exercise);
        const char *mark = state.passed ? "solved" : state.attempts ? "tried" : "open";
        lk_buf_printf(out,
                      "<li data-exercise=\"%s\" data-state=\"%s\"><span class=\"mark %s\">%s"
                      "</span> <a href=\"",
                      exercise->key, mark, mark, mark);
        page_place(out, exercise);
        lk_buf_printf(out, "\">%s</a>%s <span class=\"soft\">", exercise->name,
                      exercise->is_kata ? " <span class=\"kata\">kata</span>" : "");
        lk_buf_html(out, exercise->title);
        lk_buf_printf(out, "</span></li>\n");
    }
    lk_buf_printf(out, "</ul>\n");
}

static void show_lesson(struct studio_request *request, struct lk_buf *out,
                        const struct learn_lesson *lesson)
{
    const char *day = strchr(lesson->id, '/') + 1;
    unsigned right = learn_progress_right(request->studio->options.progress, lesson);
    lk_buf_printf(out, "<article class=\"card\" data-lesson=\"%s\"><h3><span class=\"day\">",
                  lesson->id);
    html_words(out, day, strcspn(day, "_"));
    lk_buf_printf(out, "</span> <a href=\"/lesson/%s\">", lesson->id);
    lk_buf_html(out, lesson->title);
    lk_buf_printf(out, "</a></h3>\n<p class=\"soft\">about %u minutes", lesson->minutes);
    if (lesson->question_count)
        lk_buf_printf(out, "; quiz %u of %u", right, lesson->question_count);
    lk_buf_printf(out, "</p>\n");
    if (lesson->exercise_count)
        show_exercises(request, out, lesson);
    lk_buf_printf(out, "</article>\n");
}

void page_course(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_course *course = request->studio->options.course;
    struct lk_buf *out = &reply->body;
    size_t week = 0;
    page_begin(request, reply, &(struct studio_page){.title = "Course", .body = "course"});
    if (request->studio->folder)
        show_place(request, out);
    else
        show_welcome(request, out);
    for (unsigned i = 0; i < course->count; i++) {
        const char *id = course->lesson[i]->id, *before = i ? course->lesson[i - 1]->id : "";
        size_t length = strcspn(id, "/");
        if (length != week || strncmp(id, before, length) != 0) {
            lk_buf_printf(out, "<h2 class=\"week\">");
            html_words(out, id, length);
            lk_buf_printf(out, "</h2>\n");
            if (learn_is_before(course->lesson[i]))
                lk_buf_printf(out,
                              "<p class=\"soft\">What the weeks build on, mostly in C. Already know "
                              "this? Start with week 1.</p>\n");
            else if (request->studio->folder)
                page_ladder(request, out, i);
            week = length;
        }
        show_lesson(request, out, course->lesson[i]);
    }
    page_end(reply);
}

void page_begin_course(struct studio_request *request, struct studio_reply *reply)
{
    struct studio *studio = request->studio;
    char *message = NULL;
    if (!studio->folder && studio->options.begin)
        studio->folder = learner_begin(studio->options.course, studio->options.progress,
                                       studio->options.begin, &message);
    const struct learn_exercise *first =
        learner_current(studio->options.course, studio->options.progress);
    struct lk_buf place = {0};
    if (first)
        page_place(&place, first);
    if (studio->folder)
        reply_see(reply, place.data ? place.data : lk_format("/")); /* takes the text */
    else
        reply_refusal(reply, 500, "Your folder could not be made: %s",
                      message ? message : "there is no home folder; use --folder");
    free(message);
}
