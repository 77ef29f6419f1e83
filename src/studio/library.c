/*
 * library.c: runs of the library's kernels, for pages: a variant's profile and trace, a family's
 * roofline. Each is made once, by 'lockstep profile' or 'lockstep roofline' in a child, and kept
 * until the studio ends: the kernels do not change while it runs.
 */
#include "base/utf8.h"
#include "host/files.h"
#include "studio/job.h"
#include "studio/pages.h"
#include "zoo/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct order {
    const struct studio *studio;
    const char *name; /* "transpose/naive", or "transpose" */
    char *file;       /* what the child writes beside its output; in the job's folder */
};

/* The end of the child's output, as a message. */
static void fail(struct studio_reply *reply, const struct studio_job *job, const char *message)
{
    char *unread = NULL, *log = job->log ? host_read_text(job->log, &unread) : NULL;
    if (log)
        lk_replace_bad_utf8(log);
    reply_error(reply, 500, "%s", message ? message : log && *log ? log : "nothing was written");
    free(unread);
    free(log);
}

/* Profiles -------------------------------------------------------------------------------------*/

static void profile_words(const void *context, const struct studio_job *job, const char **words)
{
    struct order *order = (struct order *)context;
    order->file = lk_format("%s/trace.json", job->folder);
    const char *const list[] = {order->studio->options.grader.self,
                                "profile",
                                order->name,
                                "--json",
                                "--gpu",
                                order->studio->options.grader.gpu,
                                "--trace",
                                order->file,
                                "--trace-blocks",
                                "0-0",
                                "--trace-warps",
                                "0-1",
                                "--trace-records",
                                "600"};
    _Static_assert(sizeof list / sizeof *list <= JOB_WORDS, "JOB_WORDS");
    memcpy(words, list, sizeof list);
}

static void add_file(json_t *files, const char *name, const char *text, const char *end)
{
    json_array_append_new(files, json_pack("{ss so}", "name", name, "code",
                                           json_stringn(text, (size_t)(end - text))));
}

/* Its own source first, then the headers of its family, in which lines may be hot as well. */
static json_t *sources(const struct zoo_family *family, const struct zoo_variant *variant)
{
    json_t *files = json_array();
    size_t length = strlen(family->name);
    for (size_t i = 0; i < zoo_embedded_count; i++) {
        const struct zoo_embedded *each = &zoo_embedded[i];
        if (strcmp(each->family, family->name) == 0 && strcmp(each->variant, variant->name) == 0) {
            char *name = lk_format("%s.cu", variant->name);
            add_file(files, name, each->text, each->text_end);
            free(name);
        }
    }
    for (size_t i = 0; i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *each = &zoo_embedded_files[i];
        const char *dot = strrchr(each->path, '.');
        bool own = strncmp(each->path, family->name, length) == 0 && each->path[length] == '/';
        if (dot && strcmp(dot, ".h") == 0 && (own || strncmp(each->path, "include/", 8) == 0))
            add_file(files, strchr(each->path, '/') + 1, each->text, each->text_end);
    }
    return files;
}

/* NULL if the child did not write both. */
static json_t *read_run(const struct studio_job *job, const struct order *order,
                        const struct zoo_family *family, const struct zoo_variant *variant)
{
    json_t *profile = json_load_file(job->out, 0, NULL);
    json_t *trace = json_load_file(order->file, 0, NULL);
    if (!profile || !trace || !json_array_size(json_object_get(profile, "kernels"))) {
        json_decref(profile);
        json_decref(trace);
        return NULL;
    }
    json_t *files = sources(family, variant), *first = json_array_get(files, 0);
    return json_pack("{ss ss sO sO so so so}", "source", "library", "title", order->name, "file",
                     json_object_get(first, "name"), "code", json_object_get(first, "code"),
                     "files", files, "trace", trace, "profile", profile);
}

/* Where there is no room it is made again the next time. */
static void keep(const json_t *run, const char *path)
{
    char *message = NULL, *text = json_dumps(run, JSON_COMPACT);
    if (text)
        host_replace_file(path, text, strlen(text), &message);
    free(message);
    free(text);
}

static void make_profile(struct studio *studio, struct studio_reply *reply, const char *name,
                         const struct zoo_family *family, const struct zoo_variant *variant,
                         const char *kept)
{
    struct studio_job job = {0};
    struct order order = {studio, name, NULL};
    char *message;
    enum job_end end = job_run(studio, &job, profile_words, &order, NULL, &message);
    json_t *run = end == JOB_ENDED ? read_run(&job, &order, family, variant) : NULL;
    if (run) {
        keep(run, kept);
        reply_json(reply, 200, run);
    } else {
        fail(reply, &job, end == JOB_SUPERSEDED ? "the studio is ending" : message);
    }
    job_end(studio, &job);
    free(order.file);
    free(message);
}

void studio_api_profile(struct studio_request *request, struct studio_reply *reply)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    const char *name = studio_query(request, "variant");
    char *message = NULL;
    if (!zoo_find(name, &family, &variant, &message)) {
        reply_error(reply, 404, "%s", message);
    } else if (!variant || variant->cpu) {
        reply_error(reply, 404, "'%s' is not a variant that runs on a GPU", name);
    } else {
        char *kept =
            lk_format("%s/%s.%s.json", request->studio->temporary, family->name, variant->name);
        if (!file_send(reply, kept, "application/json", "no-store"))
            make_profile(request->studio, reply, name, family, variant, kept);
        free(kept);
    }
    free(message);
}

/* Rooflines ------------------------------------------------------------------------------------*/

static void roofline_words(const void *context, const struct studio_job *job, const char **words)
{
    struct order *order = (struct order *)context;
    order->file = lk_format("%s/roofline.svg", job->folder);
    const char *const list[] = {
        order->studio->options.grader.self, "roofline", order->name, "--no-peers", "--gpu",
        order->studio->options.grader.gpu,  "--svg",    order->file};
    memcpy(words, list, sizeof list);
}

void library_roofline(struct studio_request *request, struct studio_reply *reply,
                      const struct zoo_family *family)
{
    struct studio *studio = request->studio;
    char *kept = lk_format("%s/%s.roofline.svg", studio->temporary, family->name), *message = NULL;
    if (!file_send(reply, kept, "image/svg+xml", "no-store")) {
        struct studio_job job = {0};
        struct order order = {studio, family->name, NULL};
        enum job_end end = job_run(studio, &job, roofline_words, &order, NULL, &message);
        if (end != JOB_ENDED || rename(order.file, kept) != 0 ||
            !file_send(reply, kept, "image/svg+xml", "no-store"))
            fail(reply, &job, end == JOB_SUPERSEDED ? "the studio is ending" : message);
        job_end(studio, &job);
        free(order.file);
    }
    free(message);
    free(kept);
}
