/*
 * run.c: a run of a learner's kernel for programs: its code, the trace of its first warps and its
 * profile, all of the measured size. The pictures of the studio read it. The last one of each
 * exercise is kept in runs/KEY.json beside the progress file, and its replay in
 * runs/KEY.replay.json.
 */
#include "learn/grade.h"

#include "base/utf8.h"
#include "host/files.h"
#include "learn/learner.h"
#include "report/advice.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The learner's file has no folder in front of its name, wherever it lies. */
static void shorten_names(struct profile *profile, const char *path, const char *name)
{
    for (unsigned i = 0; i < profile->kernel_count; i++)
        for (unsigned j = 0; j < profile->kernels[i]->code_count; j++) {
            struct profile_source *source = profile->kernels[i]->code[j].source;
            const char *slash = source ? strrchr(source->path, '/') : NULL;
            if (source && (strcmp(source->path, path) == 0 ||
                           strcmp(slash ? slash + 1 : source->path, name) == 0))
                source->shown = name;
        }
}

json_t *learn_run_json(const struct learn_exercise *exercise, const char *path,
                       struct profile *profile)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *message = NULL, *code = host_read_text(path, &message);
    if (!code) {
        free(message);
        return NULL;
    }
    struct report_run run = {.program = name};
    lk_replace_bad_utf8(code);
    shorten_names(profile, path, name);
    advice_find(profile);
    json_t *object =
        json_pack("{ss ss ss ss so so}", "source", "yours", "exercise", learn_key(exercise), "file",
                  name, "code", code, "trace", report_trace_json(profile), "profile",
                  report_profile_json(profile, &run));
    free(code);
    return object;
}

static char *path_of(const struct learn_progress *progress, const struct learn_exercise *exercise,
                     const char *end)
{
    const char *file = learn_progress_file(progress), *slash = file ? strrchr(file, '/') : NULL;
    if (!slash)
        return NULL;
    return lk_format("%.*s/runs/%s%s", (int)(slash - file), file, learn_key(exercise), end);
}

char *learn_run_path(const struct learn_progress *progress, const struct learn_exercise *exercise)
{
    return path_of(progress, exercise, ".json");
}

char *learn_replay_path(const struct learn_progress *progress,
                        const struct learn_exercise *exercise)
{
    return path_of(progress, exercise, ".replay.json");
}

/* Takes path over. */
static bool save(char *path, const json_t *json, char **message)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(10));
    bool fine = path && text && host_replace_file(path, text, strlen(text), message);
    if (!path || !text)
        *message = lk_format("the run was not saved: there is no place for it");
    free(text);
    free(path);
    return fine;
}

bool learn_run_save(const struct learn_progress *progress, const struct learn_exercise *exercise,
                    const struct learn_verdict *verdict, char **message)
{
    return (!verdict->run || save(learn_run_path(progress, exercise), verdict->run, message)) &&
           (!verdict->replay ||
            save(learn_replay_path(progress, exercise), verdict->replay, message));
}
