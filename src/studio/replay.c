/*
 * replay.c: a kernel played back: the page, which web/replay.js fills, and its data: the replay of
 * the learner's last check, or of a library kernel, which 'lockstep profile' makes once in a child.
 */
#include "base/text.h"
#include "base/utf8.h"
#include "host/files.h"
#include "studio/job.h"
#include "studio/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct offered {
    const char *family, *variant, *title, *parameters;
} offered[] = {
#define X(family, variant, title, parameters) {family, variant, title, parameters},
#include "studio/replays.def"
#undef X
};
enum { OFFERED = sizeof offered / sizeof offered[0], PARAMETERS = 6 };

/* Data -----------------------------------------------------------------------------------------*/

struct order {
    const struct studio *studio;
    const char *name; /* "gemm/shared_tiled" */
    char *parameters; /* as in replays.def; cut into words */
    char *file;       /* what the child writes; in the job's folder */
};

static void replay_words(const void *context, const struct studio_job *job, const char **words)
{
    struct order *order = (struct order *)context;
    char *place = NULL;
    unsigned count = 0;
    order->file = lk_format("%s/replay.json", job->folder);
    const char *const list[] = {order->studio->options.grader.self,
                                "profile",
                                order->name,
                                "--json",
                                "--gpu",
                                order->studio->options.grader.gpu,
                                "--replay",
                                order->file,
                                "--replay-events",
                                "30000"}; /* all of replays.def */
    _Static_assert(sizeof list / sizeof *list + PARAMETERS <= JOB_WORDS, "JOB_WORDS");
    memcpy(words, list, sizeof list);
    words += sizeof list / sizeof *list;
    for (char *word = strtok_r(order->parameters, " ", &place); word && count < PARAMETERS;
         word = strtok_r(NULL, " ", &place))
        words[count++] = word;
}

static const char *parameters_of(const struct zoo_family *family)
{
    for (size_t i = 0; i < OFFERED; i++)
        if (strcmp(offered[i].family, family->name) == 0)
            return offered[i].parameters;
    return "";
}

/* Runs the kernel; false with an answer that says why it could not be. */
static bool make_replay(struct studio *studio, struct studio_reply *reply, const char *name,
                        const struct zoo_family *family, const char *kept)
{
    struct studio_job job = {0};
    struct order order = {studio, name, lk_format("%s", parameters_of(family)), NULL};
    char *message = NULL, *unread = NULL;
    enum job_end end = job_run(studio, &job, replay_words, &order, NULL, &message);
    bool made = end == JOB_ENDED && order.file && rename(order.file, kept) == 0;
    if (!made) {
        char *log = job.log ? host_read_text(job.log, &unread) : NULL;
        if (log)
            lk_replace_bad_utf8(log);
        reply_error(reply, 500, "%s",
                    end == JOB_SUPERSEDED ? "the studio is ending"
                    : message             ? message
                    : log && *log         ? log
                                          : "nothing was written");
        free(log);
    }
    job_end(studio, &job);
    free(order.parameters);
    free(order.file);
    free(message);
    free(unread);
    return made;
}

static void send_variant(struct studio_request *request, struct studio_reply *reply,
                         const char *name)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    char *message = NULL;
    if (!zoo_find(name, &family, &variant, &message)) {
        reply_error(reply, 404, "%s", message);
    } else if (!variant || variant->cpu) {
        reply_error(reply, 404, "'%s' is not a variant that runs on a GPU", name);
    } else {
        char *kept = lk_format("%s/%s.%s.replay.json", request->studio->temporary, family->name,
                               variant->name);
        if (!file_send(reply, kept, "application/json", "no-store") &&
            make_replay(request->studio, reply, name, family, kept) &&
            !file_send(reply, kept, "application/json", "no-store"))
            reply_error(reply, 500, "%s: %s", kept, strerror(errno));
        free(kept);
    }
    free(message);
}

/* Nothing (204) if there is none yet, as for a run. */
void studio_api_replay(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_exercise *exercise = request->exercise;
    if (*studio_query(request, "variant")) {
        send_variant(request, reply, studio_query(request, "variant"));
        return;
    }
    if (!exercise) {
        reply_error(reply, 404, "there is no exercise '%s' in this course",
                    studio_query(request, "exercise"));
        return;
    }
    char *path = learn_replay_path(request->studio->options.progress, exercise);
    if (!path || !file_send(reply, path, "application/json", "no-store"))
        reply->status = 204;
    reply->type = "application/json";
    free(path);
}

/* The page -------------------------------------------------------------------------------------*/

static void show_offers(struct lk_buf *out)
{
    lk_buf_printf(out, "<p>A kernel played back, warp by warp: where it is in its source, which "
                       "lanes are on, how shared memory fills, who waits at a barrier, which "
                       "sectors are fetched.</p>\n<ul class=\"cards\">\n");
    for (size_t i = 0; i < OFFERED; i++)
        lk_buf_printf(out,
                      "<li class=\"card\"><a data-replay=\"%s/%s\" href=\"/replay/%s/%s\">%s</a> "
                      "<span class=\"soft\">%s/%s</span></li>\n",
                      offered[i].family, offered[i].variant, offered[i].family, offered[i].variant,
                      offered[i].title, offered[i].family, offered[i].variant);
    lk_buf_printf(out,
                  "</ul>\n<p>For a kernel of yours: check an exercise, then choose <strong>Play it "
                  "back</strong> in its verdict. For a program: <code>lockstep profile prog.cu "
                  "--replay FILE</code> writes a file to open here.</p>\n"
                  "<p><label>Open a file <input type=\"file\" id=\"replay-file\" "
                  "accept=\".json,application/json\"></label></p>\n");
}

/* data: the address of what is played, or NULL; back: where the page belongs, as HTML. */
static void show_page(struct studio_request *request, struct studio_reply *reply, const char *title,
                      const char *data, const char *back)
{
    struct lk_buf *out = &reply->body;
    char *attribute = lk_format("data-replay=\"%s\"", data ? data : "");
    page_begin(request, reply,
               &(struct studio_page){.title = title,
                                     .script = "replay",
                                     .style = "replay",
                                     .body = "replay-page",
                                     .id = "replay",
                                     .data = attribute});
    free(attribute);
    lk_buf_printf(out, "<p class=\"back\">%s</p>\n<h1>", back);
    lk_buf_html(out, title);
    lk_buf_printf(out, "</h1>\n<noscript><p>A replay needs JavaScript.</p></noscript>\n");
    if (data)
        lk_buf_printf(out, "<p id=\"making\" hidden>The kernel is being run.</p>\n");
    else
        show_offers(out);
    page_end(reply);
}

void page_replay(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_exercise *exercise = request->exercise;
    if (!exercise && *studio_query(request, "exercise")) {
        page_missing(request, reply, "There is no such exercise in this course.");
        return;
    }
    if (!exercise) {
        show_page(request, reply, "Replay", NULL, "<a href=\"/interactives\">Interactives</a>");
        return;
    }
    struct lk_buf back = {0};
    char *title = lk_format("Replay of %s", exercise->name);
    char *data = lk_format("/api/replay?exercise=%s", exercise->key);
    lk_buf_printf(&back, "<a href=\"");
    page_place(&back, exercise);
    lk_buf_printf(&back, "\">To the exercise</a>");
    show_page(request, reply, title, data, back.data);
    lk_buf_free(&back);
    free(data);
    free(title);
}

void page_replay_variant(struct studio_request *request, struct studio_reply *reply)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant = NULL;
    char *message = NULL;
    if (!zoo_find(request->rest, &family, &variant, &message) || !variant || variant->cpu) {
        page_missing(request, reply, "%s",
                     message ? message : "This is not a variant that runs on a GPU.");
    } else {
        char *title = lk_format("Replay of %s/%s", family->name, variant->name);
        char *data = lk_format("/api/replay?variant=%s/%s", family->name, variant->name);
        char *back = lk_format("<a href=\"/library/%s/%s\">Its profile</a> · <a href=\"/replay\">"
                               "Other replays</a>",
                               family->name, variant->name);
        show_page(request, reply, title, data, back);
        free(back);
        free(data);
        free(title);
    }
    free(message);
}
