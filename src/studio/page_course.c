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
                  "<section id=\"welcome\" class=\"hero\"><div class=\"hero-now\">"
                  "<p class=\"eyebrow\">A course in four weeks</p><h1>Learn to write GPU kernels, "
                  "by writing them</h1>\n"
                  "<p class=\"hero-task\">No GPU is needed: your kernels run on a simulated one, "
                  "here. Exercises are "
                  "broken on purpose. You fix them, and every run tells you whether the result is "
                  "right and what it cost.</p>\n"
                  "<form method=\"post\" action=\"/begin\"><p>Your files will be in <code>");
    html_path(out, request->studio->options.begin ? request->studio->options.begin : "");
    lk_buf_printf(out, "</code>. They are yours; nothing else is written there.</p>\n"
                       "<button id=\"begin\" class=\"primary big\">Begin</button></form>\n"
                       "<p class=\"soft\">Another folder: end the studio and start it with "
                       "<code>lockstep studio --folder DIR</code>.</p></div></section>\n");
}

/* It is laid out fresh when its page is opened. */
static void show_kata(struct lk_buf *out, const struct learn_exercise *kata)
{
    if (!kata)
        return;
    lk_buf_printf(out, "<div><dt>Today's kata, on an empty page</dt><dd><a id=\"kata\" href=\"");
    page_place(out, kata);
    lk_buf_printf(out, "\">%s</a></dd><dd class=\"soft\">", kata->name);
    lk_buf_html(out, kata->title);
    lk_buf_printf(out, "</dd></div>\n");
}

static void show_facts(struct studio_request *request, struct lk_buf *out)
{
    const struct learn_course *course = request->studio->options.course;
    struct learn_progress *progress = request->studio->options.progress;
    unsigned solved, all, streak = learn_progress_streak(progress);
    learner_count(course, progress, &solved, &all);
    lk_buf_printf(out,
                  "<dl class=\"facts\"><div><dt>Exercises solved</dt><dd><strong>%u of %u</strong>"
                  "</dd><dd><progress id=\"solved\" max=\"%u\" value=\"%u\" aria-label=\"Exercises "
                  "solved\"></progress></dd></div>\n",
                  solved, all, all, solved);
    if (streak)
        lk_buf_printf(out, "<div><dt>Days in a row</dt><dd><strong>%u</strong></dd></div>\n",
                      streak);
    show_kata(out, learner_kata(course, progress));
    lk_buf_printf(out, "</dl>\n");
}

const struct learn_exercise *page_goal(struct studio_request *request)
{
    const struct learn_course *course = request->studio->options.course;
    struct learn_progress *progress = request->studio->options.progress;
    const struct learn_exercise *at = learner_current(course, progress), *open;
    if (!at || !learn_progress_state(progress, at).passed)
        return at;
    open = learner_next(course, progress, at);
    while (open && open != at && learn_progress_state(progress, open).passed)
        open = learner_next(course, progress, open);
    if (!open || open == at)
        open = learner_first_unsolved(course, progress);
    return open ? open : at;
}

static void show_place(struct studio_request *request, struct lk_buf *out,
                       const struct learn_exercise *at)
{
    struct learn_progress *progress = request->studio->options.progress;
    bool done = !at || learn_progress_state(progress, at).passed;
    lk_buf_printf(out, "<section id=\"place\" class=\"hero\"><div class=\"hero-now\">\n");
    if (done) {
        lk_buf_printf(out, "<p class=\"eyebrow\">The course</p><h1>Every exercise is solved</h1>"
                           "<p>A kata a day keeps it that way.</p>\n");
    } else {
        bool begun = learn_progress_streak(progress) || learn_progress_state(progress, at).attempts;
        lk_buf_printf(out, "<p class=\"eyebrow\">%s \302\267 ", begun ? "Go on" : "Begin");
        page_when(out, at->lesson);
        lk_buf_printf(out, "</p>\n<h1>");
        lk_buf_html(out, at->lesson->title);
        lk_buf_printf(out, "</h1>\n<p class=\"hero-task\"><code>%s</code> ", at->name);
        lk_buf_html(out, at->title);
        lk_buf_printf(out, "</p>\n<p><a id=\"go-on\" class=\"button primary big\" href=\"");
        page_place(out, at);
        lk_buf_printf(out, "\">%s</a></p>\n", begun ? "Go on" : "Begin");
    }
    lk_buf_printf(out, "</div>\n");
    show_facts(request, out);
    lk_buf_printf(out, "</section>\n");
}

/* The site has no learner: it says what it is, and how to get the rest. */
static void show_site(struct lk_buf *out)
{
    lk_buf_printf(out,
                  "<section id=\"welcome\" class=\"hero\"><div class=\"hero-now\">"
                  "<p class=\"eyebrow\">A course in four weeks</p><h1>Learn to write GPU kernels, "
                  "by writing them</h1>\n<p class=\"hero-task\">The lessons and pictures to read. "
                  "To solve the exercises, and have them graded without a GPU, build Lockstep and "
                  "run <code>lockstep studio</code>.</p></div></section>\n");
}

void page_course(struct studio_request *request, struct studio_reply *reply)
{
    struct lk_buf *out = &reply->body;
    const struct learn_exercise *at = NULL;
    page_begin(request, reply, &(struct studio_page){.title = "Course", .body = "course"});
    if (request->studio->is_site) {
        show_site(out);
    } else if (request->studio->folder) {
        at = page_goal(request);
        show_place(request, out, at);
    } else {
        show_welcome(request, out);
    }
    page_path(request, out, at ? at->lesson : NULL);
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
