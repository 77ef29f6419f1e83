/*
 * events.c: GET /api/events: a stream that tells a page when its file changes on disk and when a
 * verdict comes from elsewhere (server-sent events). It looks at the file's state four times a
 * second: that sees every way in which editors save, and deletion too, on every file system.
 */
#include "studio/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_PER_SECOND = 4, QUIET_LOOKS = 10 * LOOKS_PER_SECOND };

struct events {
    struct studio *studio;
    const struct learn_exercise *exercise;
    char *path;
    char version[LEARNER_VERSION]; /* that the page knows */
    int64_t attempt;
    struct stat before;
    bool looked;
    struct lk_buf waiting; /* to be sent */
    size_t sent;
};

static void look_at_file(struct events *events)
{
    struct stat now = {0};
    char version[LEARNER_VERSION], *message = NULL, *text;
    bool there = stat(events->path, &now) == 0;
    if (events->looked && now.st_ino == events->before.st_ino &&
        now.st_size == events->before.st_size &&
        memcmp(&now.st_mtim, &events->before.st_mtim, sizeof now.st_mtim) == 0)
        return;
    events->before = now;
    events->looked = true;
    text = there ? learner_read(events->path, &message) : NULL;
    learner_version(text, version);
    if (strcmp(version, events->version) != 0) {
        strcpy(events->version, version);
        lk_buf_printf(&events->waiting,
                      "event: file\ndata: {\"version\": \"%s\", \"exists\": %s}\n\n", version,
                      text ? "true" : "false");
    }
    free(message);
    free(text);
}

static void look_at_verdicts(struct events *events)
{
    struct learn_progress *progress = events->studio->options.progress;
    pthread_mutex_lock(&events->studio->lock);
    int64_t attempt = learn_progress_attempts(progress, events->exercise);
    json_t *last =
        attempt > events->attempt ? learn_progress_last(progress, events->exercise) : NULL;
    pthread_mutex_unlock(&events->studio->lock);
    if (!last)
        return;
    events->attempt = attempt;
    json_object_set_new(last, "attempt", json_integer(attempt));
    char *text = json_dumps(last, JSON_COMPACT | JSON_REAL_PRECISION(10));
    if (text)
        lk_buf_printf(&events->waiting, "event: verdict\ndata: %s\n\n", text);
    free(text);
    json_decref(last);
}

/* Called when the connection can take more; may wait, as each connection has its own thread. */
static ssize_t more(void *context, uint64_t position, char *data, size_t most)
{
    struct events *events = context;
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS_PER_SECOND};
    for (unsigned quiet = 0; events->sent == events->waiting.size; quiet++) {
        if (events->studio->stopping)
            return MHD_CONTENT_READER_END_OF_STREAM;
        lk_buf_free(&events->waiting);
        events->sent = 0;
        look_at_file(events);
        if (quiet % LOOKS_PER_SECOND == 0)
            look_at_verdicts(events);
        if (!events->waiting.size && quiet == QUIET_LOOKS)
            lk_buf_printf(&events->waiting, ": still here\n\n"); /* detects closed connections */
        if (!events->waiting.size)
            nanosleep(&pause, NULL);
    }
    size_t size = events->waiting.size - events->sent;
    size = size < most ? size : most;
    memcpy(data, events->waiting.data + events->sent, size);
    events->sent += size;
    return (ssize_t)size;
}

static void end(void *context)
{
    struct events *events = context;
    lk_buf_free(&events->waiting);
    free(events->path);
    free(events);
}

void studio_api_events(struct studio_request *request, struct studio_reply *reply)
{
    if (!request->studio->folder) {
        reply_error(reply, 409, "you have no folder for the exercises yet");
        return;
    }
    struct events *events = lk_alloc_zeroed(sizeof *events);
    events->studio = request->studio;
    events->exercise = request->exercise;
    events->path = learner_file(request->studio->folder, request->exercise);
    events->attempt = strtoll(studio_query(request, "attempt"), NULL, 10);
    snprintf(events->version, sizeof events->version, "%s", studio_query(request, "version"));
    lk_buf_printf(&events->waiting, "retry: 1000\n\n"); /* headers go out at once */
    reply->status = 200;
    reply->type = "text/event-stream";
    reply->stream = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, more, events, end);
    if (!reply->stream)
        end(events);
}
