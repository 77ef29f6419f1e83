/*
 * check.c: POST /api/check: saves the learner's text and grades it, as 'lockstep learn check' does:
 * in a child that is that command, so that terminal and studio cannot differ. A newer check of the
 * same exercise ends an older one.
 */
#include "studio/job.h"
#include "studio/pages.h"

#include "base/utf8.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

/* The verdict -----------------------------------------------------------------------------------*/

static json_t *broken(const char *format, const char *text)
{
    char *words = lk_format(format, text);
    lk_replace_bad_utf8(words);
    json_t *verdict = json_pack("{sb ss ss s[{si ss}] si si si s[]}", "passed", 0, "stage",
                                "broken", "text", words, "messages", "line", 0, "text", words,
                                "line", 0, "sizes", 0, "right", 0, "counters");
    free(words);
    return verdict;
}

/* What the child printed, with its stderr as a remark. */
static json_t *read_verdict(const struct studio_job *job)
{
    char *message = NULL, *log = host_read_text(job->log, &message);
    json_t *verdict = json_load_file(job->out, 0, NULL);
    if (log)
        lk_replace_bad_utf8(log);
    if (!verdict)
        verdict =
            broken("nothing could be graded: %s", log && *log ? log : "the grader did not run");
    else if (log && *log)
        json_object_set_new(verdict, "remark", json_string(log));
    free(message);
    free(log);
    return verdict;
}

/* Its folder is the exercise's, so that the verdict names the file without one. */
static void check_words(const void *context, const struct studio_job *job, const char **words)
{
    const struct studio *studio = context;
    const struct learn_exercise *exercise = job->subject;
    const struct learn_grader *grader = &studio->options.grader;
    const char *const list[] = {grader->self,
                                "learn",
                                "check",
                                exercise->key,
                                "--json",
                                "--folder",
                                studio->folder,
                                "--gpu",
                                grader->gpu,
                                "--compiler",
                                grader->is_nvcc    ? "nvcc"
                                : grader->is_nvrtc ? "nvrtc"
                                                   : "clang"};
    memcpy(words, list, sizeof list);
}

/* The lock is held, and let go while it waits. NULL if a newer check has taken its place. */
static json_t *grade(struct studio *studio, const struct learn_exercise *exercise)
{
    struct studio_job job = {.subject = exercise};
    char *message, *folder = learner_file(studio->folder, exercise);
    json_t *verdict = NULL;
    *strrchr(folder, '/') = 0;
    switch (job_run(studio, &job, check_words, studio, folder, &message)) {
    case JOB_ENDED:
        verdict = read_verdict(&job);
        break;
    case JOB_FAILED:
        verdict = broken("nothing could be graded: %s", message);
        break;
    case JOB_SUPERSEDED:
        break;
    }
    job_end(studio, &job);
    free(message);
    free(folder);
    return verdict;
}

/* The request -----------------------------------------------------------------------------------*/

static bool is_text(const struct studio_request *request)
{
    char *copy = lk_alloc(request->body_size + 1);
    memcpy(copy, request->body, request->body_size);
    copy[request->body_size] = 0;
    lk_replace_bad_utf8(copy);
    bool same =
        memcmp(copy, request->body, request->body_size) == 0 && strlen(copy) == request->body_size;
    free(copy);
    return same;
}

/* Saves the body over what ?version names. False after a reply was made. */
static bool save(struct studio_request *request, struct studio_reply *reply)
{
    char *there = NULL, *message = NULL, version[LEARNER_VERSION];
    enum learner_saved saved =
        learner_save(request->studio->folder, request->exercise, studio_query(request, "version"),
                     request->body, &there, &message);
    learner_version(there, version);
    if (there)
        lk_replace_bad_utf8(there);
    if (saved == LEARNER_CHANGED)
        reply_json(reply, 409,
                   json_pack("{ss ss ss ss}", "error",
                             "the file has changed on disk since this page read it; nothing was "
                             "written",
                             "version", version, "theirs", there, "yours", request->body));
    else if (saved == LEARNER_FAILED)
        reply_error(reply, 507, "your text is not saved: %s", message);
    free(there);
    free(message);
    return saved == LEARNER_SAVED;
}

/* All that can be wrong with the text itself; false after a reply was made. */
static bool take_text(struct studio_request *request, struct studio_reply *reply)
{
    if (!request->studio->folder)
        reply_error(reply, 409,
                    "you have no folder for the exercises yet; the first page makes one");
    else if (!is_text(request))
        reply_error(reply, 400, "this is not valid UTF-8; nothing was saved");
    else
        return save(request, reply);
    return false;
}

void studio_api_save(struct studio_request *request, struct studio_reply *reply)
{
    char version[LEARNER_VERSION];
    if (!take_text(request, reply))
        return;
    learner_version(request->body, version);
    reply_json(reply, 200,
               json_pack("{ss ss}", "exercise", request->exercise->key, "version", version));
}

void studio_api_check(struct studio_request *request, struct studio_reply *reply)
{
    struct studio *studio = request->studio;
    const struct learn_exercise *exercise = request->exercise;
    char version[LEARNER_VERSION];
    if (!take_text(request, reply))
        return;
    learner_version(request->body, version);
    json_t *verdict =
        studio->options.grader.compiler || exercise->is_python
            ? grade(studio, exercise)
            : broken("your text is saved, but there is no compiler for kernels here: %s",
                     "'apt install clang-19' gets one; no GPU and no NVIDIA software are needed. "
                     "Then start the studio again.");
    if (!verdict)
        verdict = json_pack("{sb}", "superseded", 1);
    json_object_set_new(verdict, "exercise", json_string(exercise->key));
    json_object_set_new(verdict, "version", json_string(version));
    json_object_set_new(verdict, "attempt",
                        json_integer(learn_progress_attempts(studio->options.progress, exercise)));
    json_object_set_new(verdict, "next", studio_api_next(studio, exercise));
    reply_json(reply, 200, verdict);
}
