/*
 * grade.c: from a file to a verdict. compile -> run in a child under the checker and the counters
 * -> wrong results first, then what the checker found, then limits.
 */
#include "learn/grade.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "host/child.h"
#include "host/files.h"
#include "learn/limits.h"
#include "report/check.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const learn_stage_names[LEARN_STAGES] = {"passed", "compile", "wrong", "fault",
                                                     "check",  "limit",   "broken"};

/* An exercise is small: what runs so many without a block that ends, or so long, does not end. */
#define WARP_INSTRUCTIONS "LOCKSTEP_LIMIT=5000000"
enum { SECONDS = 20, MIB = 1024 };

struct job {
    const struct learn_grader *grader;
    const struct learn_exercise *exercise;
    const char *path, *shown;
    char *folder; /* temporary */
    struct learn_verdict *verdict;
    struct lk_buf text;
};

static const char *file_in(const struct job *job, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", job->folder, name);
    return path;
}

/* Notes a line of the verdict; the first stage that is said stays. */
static void set_stage(struct job *job, enum learn_stage stage, unsigned line)
{
    if (job->verdict->stage != LEARN_PASSED)
        return;
    job->verdict->stage = stage;
    job->verdict->line = line;
}

static bool is_learners(const struct job *job, const char *file)
{
    const char *a = file ? strrchr(file, '/') : NULL, *b = strrchr(job->path, '/');
    return file && strcmp(a ? a + 1 : file, b ? b + 1 : job->path) == 0;
}

/* The child -------------------------------------------------------------------------------------*/

static unsigned seconds_of(const struct job *job)
{
    return job->grader->seconds ? job->grader->seconds : SECONDS;
}

static unsigned mib_of(const struct job *job)
{
    return job->grader->mib ? job->grader->mib : MIB;
}

/* gpu: the machine's, with its checker and counters, or a real one. */
static enum host_end run_worker(const struct job *job, const char *gpu, int *status)
{
    char ptx[PATH_MAX], result[PATH_MAX], log[PATH_MAX], check[PATH_MAX], profile[PATH_MAX];
    char which[64];
    bool real = gpu == job->grader->real;
    const char *const words[] = {job->grader->self,
                                 "learn",
                                 "grade-worker",
                                 job->exercise->lesson->folder,
                                 job->exercise->name,
                                 file_in(job, ptx, "kernel.ptx"),
                                 gpu,
                                 file_in(job, result, "result.json"),
                                 NULL};
    snprintf(check, sizeof check, "LOCKSTEP_CHECK=%s/check", job->folder);
    snprintf(profile, sizeof profile, "LOCKSTEP_PROFILE=%s/profile", job->folder);
    snprintf(which, sizeof which, "LOCKSTEP_GPU=%s", gpu);
    const char *const watched[] = {check,
                                   profile,
                                   which,
                                   "LOCKSTEP_TRACE=blocks:0-0,warps:0-3,records:2048",
                                   WARP_INSTRUCTIONS,
                                   "LOCKSTEP_SCHEDULE",
                                   NULL};
    static const char *const plain[] = {"LOCKSTEP_CHECK", "LOCKSTEP_PROFILE", "LOCKSTEP_TRACE",
                                        "LOCKSTEP_GPU", NULL};
    (void)remove(result);
    return host_run_limited(&(struct host_command){.words = words,
                                                   .environment = real ? plain : watched,
                                                   .output = file_in(job, log, "log"),
                                                   .joined = true},
                            &(struct host_limits){.seconds = seconds_of(job) * (real ? 3 : 1),
                                                  .mib = mib_of(job) * (real ? 4 : 1),
                                                  .reserves = true,
                                                  .interrupted = job->grader->interrupted},
                            status);
}

/* Wrong results and faults. False if the counters say nothing. */
static bool read_sizes(struct job *job, json_t *result)
{
    json_t *sizes = json_object_get(result, "sizes"), *row;
    const char *error = json_string_value(json_object_get(result, "error"));
    size_t i;
    json_array_foreach(sizes, i, row)
    {
        const char *wrong = json_string_value(json_object_get(row, "wrong"));
        const char *fault = json_string_value(json_object_get(row, "fault"));
        if (!wrong && !fault) {
            job->verdict->right++;
            continue;
        }
        if (job->verdict->stage == LEARN_PASSED && wrong)
            lk_buf_printf(&job->text, "%s: %s\n", job->shown, wrong);
        else if (job->verdict->stage == LEARN_PASSED)
            lk_buf_printf(&job->text, "%s: for %s: %s\n", job->shown,
                          json_string_value(json_object_get(row, "size")), fault);
        set_stage(job, wrong ? LEARN_WRONG : LEARN_FAULT, 0);
    }
    if (error) {
        lk_buf_printf(&job->text, "%s: %s\n", job->shown, error);
        set_stage(job, LEARN_FAULT, 0);
        job->verdict->right = 0;
    }
    return !error;
}

/* Findings --------------------------------------------------------------------------------------*/

static void add_triple(struct lk_buf *text, const char *name, const json_t *object)
{
    const json_t *list = json_object_get(object, name);
    if (json_array_size(list) == 3)
        lk_buf_printf(text, ", %s (%lld,%lld,%lld)", name,
                      (long long)json_integer_value(json_array_get(list, 0)),
                      (long long)json_integer_value(json_array_get(list, 1)),
                      (long long)json_integer_value(json_array_get(list, 2)));
}

/* "allocation #7 of 4 bytes" as the learner knows it: "a (4 bytes; n=1)". The worker allocates the
 * buffers of one size after the other, in order, and nothing else. */
static void add_text(struct job *job, const char *text)
{
    const struct learn_problem *problem = &job->exercise->problem;
    const char *at = strstr(text, "allocation #");
    unsigned number, bytes;
    int length = 0;
    if (!at || !problem->buffer_count ||
        sscanf(at, "allocation #%u of %u bytes%n", &number, &bytes, &length) != 2 || length == 0 ||
        number == 0 || (number - 1) / problem->buffer_count >= problem->size_count) {
        const char *advice = strstr(text, " (--limit"); /* an option of other commands */
        lk_buf_printf(&job->text, "%.*s", advice ? (int)(advice - text) : (int)strlen(text), text);
        return;
    }
    lk_buf_printf(&job->text, "%.*s%s (%u bytes; %s)%s", (int)(at - text), text,
                  problem->buffer[(number - 1) % problem->buffer_count].name, bytes,
                  problem->size[(number - 1) / problem->buffer_count], at + length);
}

static void add_finding(struct job *job, const json_t *object)
{
    const json_t *other = json_object_get(object, "other");
    unsigned line = (unsigned)json_integer_value(json_object_get(object, "line"));
    unsigned with = (unsigned)json_integer_value(json_object_get(other, "line"));
    const char *text = json_string_value(json_object_get(object, "text"));
    bool ours = is_learners(job, json_string_value(json_object_get(object, "file")));
    lk_buf_printf(&job->text, "%s:", job->shown);
    if (ours && line)
        lk_buf_printf(&job->text, "%u:", line);
    lk_buf_printf(&job->text, " ");
    add_text(job, text ? text : "an error");
    add_triple(&job->text, "block", object);
    add_triple(&job->text, "thread", object);
    if (with && is_learners(job, json_string_value(json_object_get(other, "file"))))
        lk_buf_printf(&job->text, "; the other side is line %u", with);
    lk_buf_printf(&job->text, "\n");
    set_stage(job, LEARN_CHECK, ours ? line : 0);
    if (job->verdict->line == 0 && ours)
        job->verdict->line = line;
}

/* At most two: the rest mostly follows from them. */
static void read_findings(struct job *job)
{
    struct check_findings findings;
    char path[PATH_MAX], *message = NULL;
    if (!check_read(file_in(job, path, "check"), NULL, &findings, &message)) {
        free(message); /* the worker did not get as far as the machine */
        return;
    }
    for (size_t i = 0; i < json_array_size(findings.errors) && i < 2; i++)
        add_finding(job, json_array_get(findings.errors, i));
    check_free(&findings);
}

/* Limits ----------------------------------------------------------------------------------------*/

static void check_limits(struct job *job, const struct profile_launch *launch)
{
    const struct learn_exercise *exercise = job->exercise;
    const struct learn_problem *problem = &exercise->problem;
    for (unsigned i = 0; i < exercise->limit_count; i++) {
        const struct learn_limit *limit = &exercise->limit[i];
        struct expression_state state = {0};
        struct lk_buf text = {0};
        memcpy(state.variable, problem->value[problem->measured], sizeof state.variable);
        double most = expression_eval(limit->most, &state);
        struct limits_result result = limits_check(launch, limit->counter, most, &text);
        job->verdict->counter[job->verdict->counter_count++] =
            (struct learn_counter){limit->counter, result.value, most, result.kept};
        bool passed = job->verdict->stage == LEARN_PASSED;
        if (!result.kept && (passed || job->verdict->stage == LEARN_LIMIT)) {
            bool ours = is_learners(job, result.file);
            lk_buf_printf(&job->text, "%s:", job->shown);
            if (ours)
                lk_buf_printf(&job->text, "%u:", result.line);
            lk_buf_printf(&job->text, " %s\n", text.data);
            if (limit->why)
                lk_buf_printf(&job->text, "    %s\n", limit->why);
            set_stage(job, LEARN_LIMIT, ours ? result.line : 0);
        }
        lk_buf_free(&text);
    }
}

static void read_counters(struct job *job)
{
    struct profile_filter filter = {.launch = (long)job->exercise->problem.measured};
    char path[PATH_MAX], *message = NULL;
    struct profile *profile = profile_read(file_in(job, path, "profile"), &filter, &message);
    if (!profile) {
        free(message);
        return;
    }
    profile_evaluate(profile);
    if (profile->launch_count && !profile->launches[0]->fault) {
        struct profile_launch *launch = profile->launches[0];
        job->verdict->modelled_us = launch->model.seconds * 1e6;
        job->verdict->picture = learn_picture(launch);
        check_limits(job, launch);
        job->verdict->run = learn_run_json(job->exercise, job->path, profile);
    }
    profile_free(profile);
}

/* The verdict -----------------------------------------------------------------------------------*/

/* The worker left no result: why. */
static void tell_end(struct job *job, enum host_end how, int status)
{
    char path[PATH_MAX], *message = NULL;
    char *log = host_read_text(file_in(job, path, "log"), &message);
    enum learn_stage stage = LEARN_FAULT;
    lk_buf_printf(&job->text, "%s: ", job->shown);
    if (how == HOST_ENDED && log && strstr(log, "out of host memory"))
        how = HOST_TOO_BIG; /* it asked for so much at once that it was not given */
    if (how == HOST_TOO_SLOW) {
        lk_buf_printf(&job->text,
                      "the kernel was stopped after %u seconds: is there an endless "
                      "loop?\n",
                      seconds_of(job));
    } else if (how == HOST_TOO_BIG) {
        lk_buf_printf(&job->text, "the kernel was stopped: it uses more than %u MiB of memory\n",
                      mib_of(job));
    } else if (how == HOST_TOO_LOUD) {
        lk_buf_printf(&job->text, "the kernel was stopped: it prints without end\n");
    } else if (how == HOST_INTERRUPTED) {
        lk_buf_printf(&job->text, "stopped before it was graded\n");
        stage = LEARN_BROKEN;
    } else {
        lk_buf_printf(&job->text, "it could not be run (status %d): %s\n", status,
                      log ? log : message);
        stage = LEARN_BROKEN;
    }
    set_stage(job, stage, 0);
    if (stage == LEARN_FAULT)
        read_findings(job);
    free(log);
    free(message);
}

static json_t *run_and_load(struct job *job, const char *gpu)
{
    char path[PATH_MAX];
    int status;
    enum host_end how = run_worker(job, gpu, &status);
    json_t *result =
        how == HOST_ENDED ? json_load_file(file_in(job, path, "result.json"), 0, NULL) : NULL;
    if (!result)
        tell_end(job, how, status);
    return result;
}

/* On the real GPU, which has no checker: only what has been found right and clean runs there. */
static void run_real(struct job *job)
{
    struct learn_verdict *verdict = job->verdict;
    enum learn_stage before = verdict->stage;
    if (!job->grader->real || (before != LEARN_PASSED && before != LEARN_LIMIT))
        return;
    verdict->stage = LEARN_PASSED; /* so that what is wrong there is told */
    verdict->right = 0;
    json_t *result = run_and_load(job, job->grader->real);
    const char *name = json_string_value(json_object_get(result, "name"));
    snprintf(verdict->gpu_name, sizeof verdict->gpu_name, "%s", name ? name : "");
    if (result && !name) { /* it could not be opened */
        lk_buf_printf(&job->text, "%s\n", json_string_value(json_object_get(result, "error")));
        set_stage(job, LEARN_BROKEN, 0);
    } else if (result) {
        read_sizes(job, result);
        json_t *row =
            json_array_get(json_object_get(result, "sizes"), job->exercise->problem.measured);
        verdict->measured_us = json_number_value(json_object_get(row, "us"));
    }
    if (verdict->stage == LEARN_PASSED)
        verdict->stage = before;
    else if (name)
        lk_buf_printf(&job->text,
                      "    That was on %s; on the simulated GPU it is right. Does it rely on an "
                      "order\n    that a GPU does not promise?\n",
                      name);
    json_decref(result);
}

static void read_results(struct job *job)
{
    json_t *result = run_and_load(job, job->grader->gpu);
    if (!result)
        return;
    if (read_sizes(job, result)) {
        read_findings(job);
        read_counters(job);
        run_real(job);
    }
    json_decref(result);
}

/* The first "FILE:LINE:" in what the compiler said. */
static unsigned line_in(const char *text, const char *shown)
{
    const char *at = strstr(text, shown);
    at = at ? at + strlen(shown) : NULL;
    return at && (*at == ':' || *at == '(') ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
}

static void compile_and_run(struct job *job)
{
    char *said = NULL;
    if (access(job->path, R_OK) != 0) {
        lk_buf_printf(&job->text,
                      "%s: %s; 'lockstep learn reset %s' puts it back as it was given\n",
                      job->shown, strerror(errno), job->exercise->name);
        set_stage(job, LEARN_COMPILE, 0);
    } else if (!learn_compile(job->grader, job->exercise, job->path, job->shown, job->folder,
                              &said)) {
        bool stopped = job->grader->interrupted && *job->grader->interrupted;
        set_stage(job, stopped ? LEARN_BROKEN : LEARN_COMPILE, line_in(said, job->shown));
        lk_buf_printf(&job->text, "%s", said);
    } else {
        read_results(job);
    }
    free(said);
}

void learn_grade(const struct learn_grader *grader, const struct learn_exercise *exercise,
                 const char *path, const char *shown, struct learn_verdict *verdict)
{
    struct job job = {grader, exercise, path, shown, .verdict = verdict};
    char *message = NULL;
    double begin = lk_seconds();
    *verdict = (struct learn_verdict){.sizes = exercise->problem.size_count};
    job.folder = host_temporary_folder("learn", &message);
    if (job.folder) {
        compile_and_run(&job);
        host_remove_tree(job.folder);
    } else {
        lk_buf_printf(&job.text, "%s\n", message);
        set_stage(&job, LEARN_BROKEN, 0);
    }
    free(job.folder);
    free(message);
    verdict->text = job.text.data ? job.text.data : strdup("");
    lk_replace_bad_utf8(verdict->text); /* what the learner wrote may be anything */
    lk_replace_bad_utf8(verdict->picture);
    verdict->seconds = lk_seconds() - begin;
}

void learn_verdict_free(struct learn_verdict *verdict)
{
    free(verdict->text);
    free(verdict->picture);
    json_decref(verdict->run);
    *verdict = (struct learn_verdict){0};
}

json_t *learn_verdict_json(const struct learn_verdict *verdict)
{
    json_t *counters = json_array();
    for (unsigned i = 0; i < verdict->counter_count; i++) {
        const struct learn_counter *counter = &verdict->counter[i];
        json_array_append_new(counters, json_pack("{ss sf sf sb}", "name", counter->name, "value",
                                                  counter->value, "most", counter->most, "kept",
                                                  counter->kept));
    }
    json_t *object = json_pack(
        "{sb ss ss si si si so sf sb ss*}", "passed", verdict->stage == LEARN_PASSED, "stage",
        learn_stage_names[verdict->stage], "text", verdict->text, "line", (int)verdict->line,
        "sizes", (int)verdict->sizes, "right", (int)verdict->right, "counters", counters, "time_us",
        verdict->modelled_us, "modelled", 1, "picture", verdict->picture);
    if (verdict->gpu_name[0])
        json_object_set_new(object, "gpu_name", json_string(verdict->gpu_name));
    if (verdict->measured_us > 0)
        json_object_set_new(object, "measured_us", json_real(verdict->measured_us));
    return object;
}
