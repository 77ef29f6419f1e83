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
#include "learn/draw.h"
#include "learn/large.h"
#include "learn/limits.h"
#include "learn/log.h"
#include "learn/totals.h"
#include "report/check.h"
#include "report/report.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An exercise is small: a kernel that runs this many without finishing a block, or this long, does
 * not end. */
/* What registers and memory hold before they are written: on a GPU, anything. As a float it is 13
 * million, which neither a sum nor a maximum hides, as 0 or a NaN would. */
#define UNWRITTEN "LOCKSTEP_POISON=75"
#define WARP_INSTRUCTIONS "LOCKSTEP_LIMIT=5000000"
enum { SECONDS = 20, MIB = 1024 };

struct job {
    const struct learn_grader *grader;
    const struct learn_exercise *exercise;
    const char *path, *shown;
    char *folder; /* temporary */
    uint64_t seed;
    struct learn_verdict *verdict;
};

static const char *file_in(const struct job *job, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", job->folder, name);
    return path;
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

/* Which buffers may have several writers, as the checker wants it (src/check/owner.c); malloc'd. */
static char *owner_rule(const struct learn_exercise *exercise)
{
    struct lk_buf rule = {0};
    const json_t *free_ones = exercise->several_writers;
    const char *before = ":";
    bool all = false;
    lk_buf_printf(&rule, "LOCKSTEP_CHECK_OWNERS=%u", exercise->problem.buffer_count);
    for (size_t i = 0; i < json_array_size(free_ones); i++) {
        const char *name = json_string_value(json_array_get(free_ones, i));
        all |= strcmp(name, "*") == 0;
        for (unsigned b = 0; b < exercise->problem.buffer_count; b++)
            if (strcmp(exercise->problem.buffer[b].name, name) == 0) {
                lk_buf_printf(&rule, "%s%u", before, b);
                before = ",";
            }
    }
    if (!all)
        return rule.data;
    lk_buf_free(&rule);
    return strdup("LOCKSTEP_CHECK_OWNERS");
}

/* gpu: the machine's, with its checker and counters, or a real one. */
static enum host_end run_worker(const struct job *job, const char *gpu, int *status)
{
    char seed[24];
    char ptx[PATH_MAX], result[PATH_MAX], log[PATH_MAX], check[PATH_MAX], profile[PATH_MAX];
    char which[64], replay[64];
    bool real = gpu == job->grader->real;
    const char *const words[] = {job->grader->self,
                                 "learn",
                                 "grade-worker",
                                 job->exercise->lesson->folder,
                                 learn_figures_name(job->exercise),
                                 file_in(job, ptx, "kernel.ptx"),
                                 gpu,
                                 file_in(job, result, "result.json"),
                                 seed,
                                 NULL};
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->seed);
    snprintf(check, sizeof check, "LOCKSTEP_CHECK=%s/check", job->folder);
    snprintf(profile, sizeof profile, "LOCKSTEP_PROFILE=%s/profile", job->folder);
    snprintf(which, sizeof which, "LOCKSTEP_GPU=%s", gpu);
    snprintf(replay, sizeof replay, "LOCKSTEP_REPLAY=launches:%u,events:12000",
             job->exercise->problem.measured);
    char *owners = owner_rule(job->exercise);
    const char *const watched[] = {check,
                                   owners,
                                   profile,
                                   which,
                                   "LOCKSTEP_TRACE=blocks:0-0,warps:0-3,records:2048",
                                   replay,
                                   WARP_INSTRUCTIONS,
                                   UNWRITTEN,
                                   "LOCKSTEP_REGISTERS=estimated", /* a learner waits */
                                   "LOCKSTEP_SCHEDULE",
                                   NULL};
    static const char *const plain[] = {"LOCKSTEP_CHECK",  "LOCKSTEP_PROFILE", "LOCKSTEP_TRACE",
                                        "LOCKSTEP_REPLAY", "LOCKSTEP_GPU",     NULL};
    (void)remove(result);
    enum host_end how =
        host_run_limited(&(struct host_command){.words = words,
                                                .environment = real ? plain : watched,
                                                .output = file_in(job, log, "log"),
                                                .joined = true},
                         &(struct host_limits){.seconds = seconds_of(job) * (real ? 3 : 1),
                                               .mib = mib_of(job) * (real ? 4 : 1),
                                               .reserves = true,
                                               .interrupted = job->grader->interrupted},
                         status);
    free(owners);
    return how;
}

/* Wrong results and faults. False if the counters mean nothing. */
static bool read_sizes(struct job *job, json_t *result)
{
    struct learn_verdict *verdict = job->verdict;
    json_t *sizes = json_object_get(result, "sizes"), *row;
    const char *error = json_string_value(json_object_get(result, "error"));
    size_t i;
    json_array_foreach(sizes, i, row)
    {
        unsigned line = (unsigned)json_integer_value(json_object_get(row, "line"));
        const char *wrong = json_string_value(json_object_get(row, "wrong"));
        const char *fault = json_string_value(json_object_get(row, "fault"));
        if (!wrong && !fault) {
            verdict->right++;
            continue;
        }
        if (verdict->stage == LEARN_PASSED && wrong)
            verdict_add_message(verdict, 0, "%s", wrong);
        else if (verdict->stage == LEARN_PASSED)
            verdict_add_message(verdict, line, "for %s: %s",
                                json_string_value(json_object_get(row, "size")), fault);
        verdict_stop(verdict, wrong ? LEARN_WRONG : LEARN_FAULT, line);
    }
    if (error) {
        verdict_add_message(verdict, 0, "%s", error);
        verdict_stop(verdict, LEARN_FAULT, 0);
        verdict->right = 0;
    }
    return !error;
}

/* Findings --------------------------------------------------------------------------------------*/

/* An allocation as the learner knows it: "a (4 bytes; n=1)". The worker allocates the buffers of
 * one size after the other, in order, and nothing else. */
static char *name_buffer(void *context, unsigned number, uint64_t bytes)
{
    const struct learn_problem *problem = context;
    unsigned count = problem->buffer_count;
    if (!count || number == 0 || (number - 1) / count >= problem->size_count)
        return NULL;
    return lk_format("%s (%llu bytes; %s)", problem->buffer[(number - 1) % count].name,
                     (unsigned long long)bytes, problem->size[(number - 1) / count]);
}

/* "byte 16 of c (4000 bytes; n=1000)" as the kernel's code has it: "c[4] (n=1000)"; malloc'd. */
static char *with_element(const struct learn_problem *problem, const char *text)
{
    const char *at = strstr(text, "byte "), *bytes = at ? strstr(at, " bytes; ") : NULL;
    char *name = NULL;
    unsigned long long byte = bytes ? strtoull(at + strlen("byte "), &name, 10) : 0;
    if (!name || strncmp(name, " of ", 4) != 0)
        return strdup(text);
    name += 4;
    size_t length = strcspn(name, " ");
    for (unsigned b = 0; b < problem->buffer_count; b++) {
        const char *known = problem->buffer[b].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return lk_format("%.*s%s[%llu] (%s", (int)(at - text), text, known,
                             byte / zoo_type_bytes[problem->buffer[b].type],
                             bytes + strlen(" bytes; "));
    }
    return strdup(text);
}

/* Of src/check/owner.c? */
static bool is_of_owners(const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "text"));
    return text &&
           (strncmp(text, "several writers", 15) == 0 || strncmp(text, "needs another", 13) == 0);
}

static void add_finding(struct job *job, const json_t *object)
{
    struct lk_buf where = {0};
    const json_t *other = json_object_get(object, "other");
    unsigned line = (unsigned)json_integer_value(json_object_get(object, "line"));
    unsigned with = (unsigned)json_integer_value(json_object_get(other, "line"));
    const char *found = json_string_value(json_object_get(object, "text"));
    char *text = is_of_owners(object) ? with_element(&job->exercise->problem, found)
                                      : strdup(found ? found : "an error");
    bool ours = is_learners(job, json_string_value(json_object_get(object, "file")));
    lk_buf_printf(&where, "%s", "");
    finding_put_thread(&where, object);
    if (with && is_learners(job, json_string_value(json_object_get(other, "file"))))
        lk_buf_printf(&where, "; the other side is line %u", with);
    verdict_add_message(job->verdict, ours ? line : 0, "%s%s", text, where.data);
    verdict_stop(job->verdict, LEARN_CHECK, ours ? line : 0);
    if (job->verdict->line == 0 && ours)
        job->verdict->line = line;
    free(text);
    lk_buf_free(&where);
}

/* Triton keeps copies of a value in several lanes of a warp, and lets each store its own: sums
 * whose last bit differs, where a product was fused into one and not into the other. A learner has
 * no shared memory in Triton, and could do nothing about it; the result is compared as always. */
static bool is_of_triton(const struct job *job, const json_t *object)
{
    static const char within_warp[] = "race between threads of a warp: write";
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *space = json_string_value(json_object_get(object, "space"));
    const char *other =
        json_string_value(json_object_get(json_object_get(object, "other"), "access"));
    return job->exercise->is_python && finding_kind(object) == FINDING_RACE && text && space &&
           other && strcmp(space, "shared") == 0 && strcmp(other, "write") == 0 &&
           strncmp(text, within_warp, sizeof within_warp - 1) == 0;
}

/* At most two: the rest mostly follows from them. owners: those of who writes what, or the others.
 */
static unsigned add_findings(struct job *job, const json_t *errors, bool owners)
{
    unsigned shown = 0;
    for (size_t i = 0; i < json_array_size(errors) && shown < 2; i++)
        if (is_of_owners(json_array_get(errors, i)) == owners &&
            !is_of_triton(job, json_array_get(errors, i))) {
            add_finding(job, json_array_get(errors, i));
            shown++;
        }
    return shown;
}

static void read_findings(struct job *job)
{
    struct check_names names = {name_buffer, (void *)&job->exercise->problem};
    struct check_findings findings;
    char path[PATH_MAX], *message = NULL;
    if (!check_read(file_in(job, path, "check"), NULL, &names, &findings, &message)) {
        free(message); /* the worker did not get as far as the machine */
        return;
    }
    /* A race, or an element out of bounds, says more than that several threads have written. */
    if (add_findings(job, findings.errors, false) == 0)
        add_findings(job, findings.errors, true);
    check_free(&findings);
}

/* Limits ----------------------------------------------------------------------------------------*/

static double most_at(const struct learn_problem *problem, unsigned size,
                      const struct learn_limit *limit)
{
    struct expression_state state = {0};
    memcpy(state.variable, problem->value[size], sizeof state.variable);
    return expression_eval(limit->most, &state);
}

/* launch, or counters of an exercise with NumPy or CuPy; the other is NULL. */
static void check_limits(struct job *job, const struct profile_launch *launch,
                         const json_t *counters)
{
    const struct learn_exercise *exercise = job->exercise;
    const struct learn_problem *problem = &exercise->problem;
    for (unsigned i = 0; i < exercise->limit_count; i++) {
        const struct learn_limit *limit = &exercise->limit[i];
        struct lk_buf text = {0};
        double most = most_at(problem, problem->measured, limit);
        struct limits_result result =
            launch ? limits_check(launch, limit->counter, most, &text)
                   : limits_check_host(counters, limit->counter, most, &text);
        job->verdict->counter[job->verdict->counter_count++] =
            (struct learn_counter){limit->counter, result.value, most, result.kept};
        bool passed = job->verdict->stage == LEARN_PASSED;
        if (!result.kept && (passed || job->verdict->stage == LEARN_LIMIT)) {
            unsigned line = !launch || is_learners(job, result.file) ? result.line : 0;
            verdict_add_message(job->verdict, line, "%s", text.data);
            if (limit->why)
                verdict_add_detail(job->verdict, "%s", limit->why);
            verdict_stop(job->verdict, LEARN_LIMIT, line);
        }
        lk_buf_free(&text);
    }
}

/* What a kernel keeps for rows as short as the measured one's need not hold for long rows. */
static void check_far_limits(struct job *job, const struct profile *profile)
{
    const struct learn_problem *problem = &job->exercise->problem;
    const struct profile_launch *launch = NULL;
    for (size_t i = 0; i < profile->launch_count; i++)
        if (profile->launches[i]->number == problem->first_far && !profile->launches[i]->fault)
            launch = profile->launches[i];
    for (unsigned i = 0; launch && i < job->exercise->limit_count; i++) {
        const struct learn_limit *limit = &job->exercise->limit[i];
        struct lk_buf text = {0};
        if (limit->far > 0 && job->verdict->stage == LEARN_PASSED) {
            struct limits_result result = limits_check(
                launch, limit->counter,
                floor(limit->far * most_at(problem, problem->first_far, limit)), &text);
            if (!result.kept) {
                unsigned line = is_learners(job, result.file) ? result.line : 0;
                verdict_add_message(job->verdict, line, "for the longer %s %s",
                                    problem->size[problem->first_far], text.data);
                if (limit->why)
                    verdict_add_detail(job->verdict, "%s", limit->why);
                verdict_stop(job->verdict, LEARN_LIMIT, line);
            }
        }
        lk_buf_free(&text);
    }
}

static void read_counters(struct job *job)
{
    const struct learn_problem *problem = &job->exercise->problem;
    struct profile_filter filter = {.launch = (long)problem->measured,
                                    .also = (long)problem->listed};
    char path[PATH_MAX], *message = NULL;
    struct profile *profile = profile_read(file_in(job, path, "profile"), &filter, &message);
    if (!profile) {
        free(message);
        return;
    }
    profile_evaluate(profile);
    if (profile->launch_count && profile->launches[0]->number == problem->measured &&
        !profile->launches[0]->fault) {
        struct profile_launch *launch = profile->launches[0];
        job->verdict->modelled_us = launch->model.seconds * 1e6;
        job->verdict->picture = learn_picture(launch);
        check_limits(job, launch, NULL);
        totals_check(job->exercise, profile, job->path, job->verdict);
        check_far_limits(job, profile);
        profile->launch_count = 1; /* pictures are of the measured size */
        job->verdict->run = learn_run_json(job->exercise, job->path, profile);
        job->verdict->replay = report_replay_json(profile); /* its files' names are short now */
    }
    profile_free(profile);
}

/* The verdict -----------------------------------------------------------------------------------*/

/* The worker left no result: why. */
static void report_end(struct job *job, enum host_end how, int status)
{
    char path[PATH_MAX], *message = NULL;
    char *log = host_read_text(file_in(job, path, "log"), &message);
    enum learn_stage stage = LEARN_FAULT;
    const char *what = job->exercise->package ? "the function" : "the kernel";
    if (how == HOST_ENDED && status == LK_EXIT_NO_MEMORY)
        how = HOST_TOO_BIG; /* it asked for more at once than it could get */
    if (how == HOST_TOO_SLOW) {
        verdict_add_message(job->verdict, 0,
                            "%s was stopped after %u seconds: is there an endless loop?", what,
                            seconds_of(job));
    } else if (how == HOST_TOO_BIG) {
        verdict_add_message(job->verdict, 0, "%s was stopped: it uses more than %u MiB of memory",
                            what, mib_of(job));
    } else if (how == HOST_TOO_LOUD) {
        verdict_add_message(job->verdict, 0, "%s was stopped: it prints without end", what);
    } else if (how == HOST_INTERRUPTED) {
        verdict_add_message(job->verdict, 0, "stopped before it was graded");
        stage = LEARN_BROKEN;
    } else {
        verdict_add_message(job->verdict, 0, "it could not be run (status %d): %s", status,
                            log ? log : message);
        stage = LEARN_BROKEN;
    }
    verdict_stop(job->verdict, stage, 0);
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
        report_end(job, how, status);
    return result;
}

/* On the real GPU, which has no checker: only what has been found right and clean runs there. */
static void run_real(struct job *job)
{
    struct learn_verdict *verdict = job->verdict;
    enum learn_stage before = verdict->stage;
    if (!job->grader->real || (before != LEARN_PASSED && before != LEARN_LIMIT))
        return;
    verdict->stage = LEARN_PASSED; /* so that errors there are reported */
    verdict->right = 0;
    json_t *result = run_and_load(job, job->grader->real);
    const char *name = json_string_value(json_object_get(result, "name"));
    snprintf(verdict->gpu_name, sizeof verdict->gpu_name, "%s", name ? name : "");
    if (result && !name) { /* it could not be opened */
        verdict_add_message(verdict, 0, "%s", json_string_value(json_object_get(result, "error")));
        verdict_stop(verdict, LEARN_BROKEN, 0);
    } else if (result) {
        read_sizes(job, result);
        json_t *row =
            json_array_get(json_object_get(result, "sizes"), job->exercise->problem.measured);
        verdict->measured_us = json_number_value(json_object_get(row, "us"));
    }
    if (verdict->stage == LEARN_PASSED)
        verdict->stage = before;
    else if (name)
        verdict_add_detail(verdict,
                           "That was on %s; on the simulated GPU it is right. Does it rely on an "
                           "order\nthat a GPU does not promise?",
                           name);
    json_decref(result);
}

/* The gain is told of kernels that are right, also where they are too costly. */
static void run_large(struct job *job)
{
    const struct learn_exercise *exercise = job->exercise;
    struct learn_verdict *verdict = job->verdict;
    if ((!exercise->problem.large && !exercise->problem.huge) ||
        (verdict->stage != LEARN_PASSED && verdict->stage != LEARN_LIMIT))
        return;
    struct large_wrong wrong = {0};
    double yours = large_run(job->grader, exercise, job->folder, &verdict->totals, &wrong);
    bool is_slow = wrong.stopped && verdict->stage == LEARN_LIMIT; /* and has been told so */
    if (wrong.text && !is_slow) {
        verdict->stage = LEARN_PASSED; /* a wrong result says more than a limit */
        verdict_add_message(verdict, 0, "%s", wrong.text);
        verdict_stop(verdict, LEARN_WRONG, 0);
        free(wrong.text);
        return;
    }
    free(wrong.text);
    if (!exercise->problem.large)
        return;
    if (yours == LARGE_IDLE) {
        verdict_add_message(verdict, 0,
                            "for %s it does not write its results: the size whose time is modelled "
                            "must not be a special case",
                            exercise->problem.large);
        verdict_stop(verdict, LEARN_LIMIT, 0);
        return;
    }
    if (yours == LARGE_UNKNOWN)
        return;
    verdict->totals.large_us = yours;
    verdict->gain = large_gain(exercise, yours);
    totals_check_large(exercise, verdict);
}

/* What the kernel printed, and where it was stopped. */
static void read_log(struct job *job)
{
    struct learn_verdict *verdict = job->verdict;
    char path[PATH_MAX], *message = NULL;
    char *log = host_read_text(file_in(job, path, "log"), &message);
    if (log) {
        struct learn_log said = log_read(log);
        verdict->printed = said.printed;
        if (verdict->stage == LEARN_FAULT && said.what && is_learners(job, said.file)) {
            verdict->line = said.line;
            verdict_add_message(verdict, said.line, "%s%s%s", said.what, said.where ? ", " : "",
                                said.where ? said.where : "");
        }
        log_free(&said);
    }
    free(message);
    free(log);
}

static void read_results(struct job *job)
{
    json_t *result = run_and_load(job, job->grader->gpu);
    if (!result)
        return;
    bool fine = read_sizes(job, result);
    read_log(job);
    if (fine && job->exercise->package) {
        if (job->verdict->right == job->exercise->problem.size_count)
            check_limits(job, NULL, json_object_get(result, "counters"));
    } else if (fine) {
        read_findings(job);
        read_counters(job);
        run_large(job);
        run_real(job);
    }
    json_decref(result);
}

/* The first line that the compiler complains about. */
static unsigned first_line(const struct learn_verdict *verdict)
{
    for (unsigned i = 0; i < verdict->message_count; i++)
        if (verdict->message[i].line)
            return verdict->message[i].line;
    return 0;
}

static void compile_and_run(struct job *job)
{
    struct learn_verdict *verdict = job->verdict;
    char *said = NULL;
    enum learn_stage end;
    if (access(job->path, R_OK) != 0) {
        verdict_add_message(verdict, 0,
                            "%s; 'lockstep learn reset %s' puts it back as it was given",
                            strerror(errno), job->exercise->name);
        verdict_stop(verdict, LEARN_COMPILE, 0);
    } else if ((end = learn_compile(job->grader, job->exercise, job->path, job->shown, job->folder,
                                    &said)) != LEARN_PASSED) {
        bool stopped = job->grader->interrupted && *job->grader->interrupted;
        verdict_take_compiler(verdict, said, job->shown);
        verdict_stop(verdict, stopped ? LEARN_BROKEN : end, first_line(verdict));
    } else {
        read_results(job);
        if (verdict->stage == LEARN_WRONG && said)
            verdict_add_unset(verdict, said, job->shown);
        free(said);
    }
}

/* figures.json has the times of one GPU; counters hold for all. */
static void forget_other_gpu(const struct learn_grader *grader, struct learn_exercise *exercise)
{
    if (strcmp(grader->gpu, "sim:h200") == 0)
        return;
    exercise->total_most[LEARN_TOTAL_time_us] = 0;
    exercise->best.large_us = exercise->before_us = 0;
}

void learn_grade(const struct learn_grader *grader, const struct learn_exercise *exercise,
                 const char *path, const char *shown, struct learn_verdict *verdict)
{
    struct learn_exercise drawn = *exercise;
    struct job job = {grader, &drawn, path, shown, .verdict = verdict};
    struct lk_arena *arena = lk_arena_create();
    char *message = NULL;
    double begin = lk_seconds();
    job.seed = grader->seed ? grader->seed : draw_seed();
    forget_other_gpu(grader, &drawn);
    bool fine = draw_sizes(arena, &drawn.problem, drawn.best.value[LEARN_TOTAL_warp_instructions],
                           job.seed, &message);
    *verdict = (struct learn_verdict){.sizes = drawn.problem.size_count, .seed = job.seed};
    job.folder = fine ? host_temporary_folder("learn", &message) : NULL;
    if (job.folder) {
        compile_and_run(&job);
        host_remove_tree(job.folder);
    } else {
        verdict_add_message(verdict, 0, "%s", message);
        verdict_stop(verdict, LEARN_BROKEN, 0);
    }
    verdict_finish(verdict, shown);
    free(job.folder);
    free(message);
    lk_arena_destroy(arena);
    verdict->seconds = lk_seconds() - begin;
}
