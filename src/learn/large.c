/*
 * large.c: how long a kernel would take for the lesson's large size: the gain of good code is seen
 * there, and hidden by the cost of a launch in problems that a learner can wait for. A few blocks
 * of the grid are run and counted, and the time model gets their counters times the rest.
 */
#include "learn/large.h"

#include "base/buf.h"
#include "host/child.h"
#include "learn/problem.h"
#include "learn/reader.h"
#include "learn/totals.h"
#include "report/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks, and instructions of warps after which no further block begins. */
#define SAMPLE "LOCKSTEP_SAMPLE=64:600000"
#define WARP_INSTRUCTIONS "LOCKSTEP_LIMIT=4000000"
enum { SECONDS = 20, MIB = 2048 };

static void cap(uint64_t *value, double most)
{
    if ((double)*value > most)
        *value = (uint64_t)most;
}

/* Bytes that the large size has to read and to write at least. */
static void bytes_of(const struct learn_exercise *exercise, double *read, double *written)
{
    struct zoo_buffer shape[ZOO_BUFFERS];
    struct learn_problem problem = exercise->problem;
    struct lk_arena *arena = lk_arena_create();
    struct lesson_reader reader = {.arena = arena, .path = "lesson.json"};
    char *message = NULL;
    *read = *written = 0;
    problem.size_count = 0;
    if (lesson_add_size(&reader, &problem, problem.large) &&
        problem_shape(&problem, 0, shape, &message))
        for (unsigned i = 0; i < problem.buffer_count; i++) {
            double bytes = (double)zoo_buffer_bytes(&shape[i]);
            *read += shape[i].role == ZOO_OUT ? 0 : bytes;
            *written += shape[i].role == ZOO_IN ? 0 : bytes;
        }
    free(reader.error);
    free(message);
    lk_arena_destroy(arena);
}

/* Blocks that were left out share sectors with those that ran. What fits the L2 is read from DRAM
 * once, and written once. */
static void cap_traffic(struct profile_launch *launch, double read, double written)
{
    struct gpu_counters *c = &launch->counters;
    if (read + written > (double)launch->gpu->l2_bytes)
        return;
    cap(&c->dram_read_bytes, read);
    cap(&c->dirty_bytes, written);
    cap(&c->lone_reads, read / 128 / 8);
    cap(&c->lone_writes, written / 128 / 8);
    cap(&c->fill_sectors, written / 32 / 8);
}

/* Of what a kernel has written a sample is compared, so it has to write everything. The blocks that
 * were run need not be average ones: a little less will do. */
#define MOST_WRITTEN 0.8
static bool does_its_work(const struct gpu_counters *c, double written)
{
    double stored = (double)(c->global_store_bytes + c->bulk_store_bytes + c->bulk_red_bytes) +
                    32.0 * (double)(c->global_red_sectors + c->global_atom_sectors);
    return stored >= MOST_WRITTEN * written;
}

double large_work(const struct learn_exercise *exercise)
{
    struct learn_problem problem = exercise->problem;
    struct lk_arena *arena = lk_arena_create();
    struct lesson_reader reader = {.arena = arena, .path = "lesson.json"};
    struct expression_state state = {0};
    double work = 0;
    problem.size_count = 0;
    if (exercise->work && problem.large && lesson_add_size(&reader, &problem, problem.large)) {
        memcpy(state.variable, problem.value[0], sizeof state.variable);
        work = expression_eval(exercise->work, &state);
    }
    free(reader.error);
    lk_arena_destroy(arena);
    return work;
}

struct learn_gain large_gain(const struct learn_exercise *exercise, double us)
{
    return (struct learn_gain){.size = exercise->problem.large,
                               .before_us = exercise->before_us,
                               .yours_us = us,
                               .best_us = exercise->best.large_us,
                               .work = large_work(exercise),
                               .is_flops = exercise->work_is_flops,
                               .is_given = strcmp(exercise->before, learn_given(exercise)) == 0};
}

static double read_time(const struct learn_exercise *exercise, const char *path,
                        struct learn_totals *totals)
{
    struct profile_filter filter = {.launch = 0};
    char *message = NULL;
    double us = 0;
    struct profile *profile = profile_read(path, &filter, &message);
    if (profile && profile->launch_count && !profile->launches[0]->fault) {
        double read, written;
        bytes_of(exercise, &read, &written);
        cap_traffic(profile->launches[0], read, written);
        profile_evaluate(profile);
        struct learn_totals all = totals_of(profile->launches[0]);
        totals->large_instructions = all.value[LEARN_TOTAL_warp_instructions];
        totals->large_requests = all.value[LEARN_TOTAL_requests];
        us = does_its_work(&profile->launches[0]->counters, written)
                 ? profile->launches[0]->model.seconds * 1e6
                 : LARGE_IDLE;
    }
    if (profile)
        profile_free(profile);
    free(message);
    return us;
}

/* What the worker found wrong in its sample. */
static struct large_wrong wrong_in(const char *path)
{
    json_t *result = json_load_file(path, 0, NULL);
    json_t *row = json_array_get(json_object_get(result, "sizes"), 0);
    const char *text = json_string_value(json_object_get(row, "wrong"));
    struct large_wrong wrong = {text ? strdup(text) : NULL,
                                json_is_false(json_object_get(row, "ends"))};
    json_decref(result);
    return wrong;
}

double large_run(const struct learn_grader *grader, const struct learn_exercise *exercise,
                 const char *folder, struct learn_totals *totals, struct large_wrong *wrong)
{
    char *profile = lk_format("LOCKSTEP_PROFILE=%s/large", folder);
    char *gpu = lk_format("LOCKSTEP_GPU=%s", grader->gpu);
    char *ptx = lk_format("%s/kernel.ptx", folder), *log = lk_format("%s/large.log", folder);
    char *result = lk_format("%s/large.json", folder), *path = lk_format("%s/large", folder);
    const char *const words[] = {grader->self,
                                 "learn",
                                 "grade-worker",
                                 exercise->lesson->folder,
                                 learn_figures_name(exercise),
                                 ptx,
                                 grader->gpu,
                                 result,
                                 "0",
                                 NULL};
    const char *const environment[] = {profile,
                                       gpu,
                                       SAMPLE,
                                       WARP_INSTRUCTIONS,
                                       "LOCKSTEP_REGISTERS=estimated",
                                       "LOCKSTEP_CHECK",
                                       "LOCKSTEP_CHECK_OWNERS",
                                       "LOCKSTEP_TRACE",
                                       "LOCKSTEP_REPLAY",
                                       "LOCKSTEP_SCHEDULE",
                                       NULL};
    int status;
    enum host_end how = host_run_limited(
        &(struct host_command){
            .words = words, .environment = environment, .output = log, .joined = true},
        &(struct host_limits){
            .seconds = SECONDS, .mib = MIB, .reserves = true, .interrupted = grader->interrupted},
        &status);
    double us = !exercise->problem.large           ? 0
                : how == HOST_ENDED && status == 0 ? read_time(exercise, path, totals)
                : how == HOST_TOO_SLOW             ? LARGE_UNKNOWN
                                                   : 0;
    *wrong = wrong_in(result);
    free(path);
    free(result);
    free(log);
    free(ptx);
    free(gpu);
    free(profile);
    return us;
}
