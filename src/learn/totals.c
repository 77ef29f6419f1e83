/*
 * totals.c: totals against the solution's; see totals.h.
 */
#include "learn/totals.h"

#include "base/buf.h"
#include "learn/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const totals_names[LEARN_TOTALS] = {
#define TOTAL(name, factor, slack, words) #name,
#include "learn/totals.def"
#undef TOTAL
};

static const struct {
    double slack;
    const char *words;
} infos[LEARN_TOTALS] = {
#define TOTAL(name, factor, slack, words) {slack, words},
#include "learn/totals.def"
#undef TOTAL
};

/* What a special case of the tested size may save, against a size that is a little smaller. */
#define SPECIAL_CASE 1.6
/* The least of the solution's work at the large size, against what a kernel has at the measured. */
#define LEFT_OUT 0.4
/* How much longer than in the solution the busiest warp may be, against the others; and how many
 * more requests it may have. */
#define UNEVEN 1.5
#define UNEVEN_REQUESTS 1.4
#define EVEN 1.2 /* the busiest warp, as multiple of the mean */
/* Of the passes through shared memory, the part that bank conflicts may add without being looked
 * at. */
#define FEW_CONFLICTS 0.25

static double warps_of(const struct profile_launch *launch)
{
    return (double)launch->shape.blocks * ceil(launch->shape.threads / 32.0);
}

struct learn_totals totals_of(const struct profile_launch *launch)
{
    const struct gpu_counters *c = &launch->counters;
    struct learn_totals totals = {0};
    totals.value[LEARN_TOTAL_time_us] = launch->model.seconds * 1e6;
    totals.value[LEARN_TOTAL_warp_instructions] = (double)c->warp_instructions;
    totals.value[LEARN_TOTAL_longest_warp] = (double)c->longest_warp;
    totals.value[LEARN_TOTAL_requests] =
        (double)(c->global_load_requests + c->global_store_requests + c->copy_requests +
                 c->copy_bypass_requests);
    totals.value[LEARN_TOTAL_atomics] =
        (double)(c->global_red_requests + c->global_atom_requests + c->shared_atom_instructions);
    totals.value[LEARN_TOTAL_busiest_requests] = (double)c->busiest_requests;
    totals.value[LEARN_TOTAL_bank_conflicts] = (double)c->shared_conflicts;
    totals.sectors = (double)(c->global_load_sectors + c->global_store_sectors);
    totals.warps = warps_of(launch);
    totals.passes = (double)c->shared_wavefronts_ideal;
    totals.lanes =
        c->warp_instructions ? (double)c->thread_instructions_on / (double)c->warp_instructions : 0;
    return totals;
}

/* The line ------------------------------------------------------------------------------------*/

static bool is_file(const struct profile_code *code, const char *shown)
{
    const char *path = code->source ? code->source->path : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL, *mine = strrchr(shown, '/');
    return path && strcmp(slash ? slash + 1 : path, mine ? mine + 1 : shown) == 0;
}

/* Of the learner's lines, that of the instruction which counts most towards the total. */
static unsigned line_to_blame(const struct profile_launch *launch, enum learn_total total,
                              const char *shown)
{
    unsigned line = 0;
    double largest = 0;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        const struct profile_memory *global = inst->memory[GPU_SPACE_GLOBAL];
        const struct profile_memory *shared = inst->memory[GPU_SPACE_SHARED];
        bool is_memory = total == LEARN_TOTAL_requests || total == LEARN_TOTAL_time_us ||
                         total == LEARN_TOTAL_busiest_requests;
        double value =
            total == LEARN_TOTAL_atomics
                ? (global && (inst->code->kind == PROFILE_ATOM || inst->code->kind == PROFILE_RED)
                       ? (double)inst->warps
                       : 0)
            : total == LEARN_TOTAL_bank_conflicts ? (shared ? (double)shared->conflicts : 0)
            : is_memory                           ? (global ? (double)global->requests : 0)
                                                  : (double)inst->warps;
        if (value > largest && inst->code->line && is_file(inst->code, shown)) {
            largest = value;
            line = inst->code->line;
        }
    }
    return line;
}

/* Sentences -----------------------------------------------------------------------------------*/

/* How a total of one warp relates to all warps'. */
static const struct evenness {
    enum learn_total busiest, all;
    double most; /* times the solution's */
    bool has_slack;
} by_instructions = {LEARN_TOTAL_longest_warp, LEARN_TOTAL_warp_instructions, UNEVEN, true},
  by_requests = {LEARN_TOTAL_busiest_requests, LEARN_TOTAL_requests, UNEVEN_REQUESTS, false};

/* Does the busiest warp have more to do than in the solution, and the others have not? A thread
 * that takes four elements at once leaves warps idle too, but has no more requests than before. */
static bool is_uneven_in(const struct learn_exercise *exercise, const struct learn_totals *mine,
                         const struct evenness *by)
{
    const struct learn_totals *best = &exercise->best;
    double busiest = mine->value[by->busiest], best_busiest = best->value[by->busiest];
    double slack = by->has_slack ? infos[by->busiest].slack : 0;
    double mean = mine->value[by->all] / fmax(1, mine->warps);
    double best_mean = best->value[by->all] / fmax(1, best->warps);
    return exercise->total_most[by->busiest] > 0 && best_busiest > 0 && best_mean > 0 && mean > 0 &&
           busiest > by->most * best_busiest + slack &&
           busiest / mean > by->most * best_busiest / best_mean;
}

/* What a kernel does that costs so much; NULL if nothing that is known. */
static char *explain(const struct learn_exercise *exercise, const struct profile_launch *launch,
                     const struct learn_totals *mine, enum learn_total total)
{
    const struct learn_totals *best = &exercise->best;
    double all = mine->value[LEARN_TOTAL_warp_instructions];
    double longest = mine->value[LEARN_TOTAL_longest_warp];
    double warps = warps_of(launch), blocks = (double)launch->shape.blocks;
    double times = all / fmax(1, best->value[LEARN_TOTAL_warp_instructions]);
    double best_share =
        best->value[LEARN_TOTAL_longest_warp] / fmax(1, best->value[LEARN_TOTAL_warp_instructions]);
    if (exercise->is_c)
        return NULL;
    if (mine->value[LEARN_TOTAL_atomics] > 4 * best->value[LEARN_TOTAL_atomics] + 4)
        return lk_format(
            "Atomics on one address take turns. Let a thread own its element and store "
            "it once.");
    if (warps > 2 && longest > 0.5 * all && best_share < 0.25)
        return lk_format("%s does %.0f%% of the work, and %.0f warps have next to none. Give every "
                         "thread its own part.",
                         mine->lanes < 0.25 * best->lanes ? "One thread" : "One warp",
                         100 * longest / all, warps - 1);
    if (mine->lanes < 0.5 * best->lanes)
        return lk_format("Of the 32 lanes of a warp only %.2g do the work, in the solution %.2g. A "
                         "warp costs the same however many of its lanes are on.",
                         mine->lanes, best->lanes);
    if (total == LEARN_TOTAL_bank_conflicts)
        return lk_format("Lanes of a warp that go to different words of one bank take turns. Pad "
                         "the rows of the tile, or swizzle them, as in the lesson.");
    if (blocks > 1 && times > 0.4 * blocks &&
        mine->value[LEARN_TOTAL_requests] > 1.3 * best->value[LEARN_TOTAL_requests])
        return lk_format("There are %.0f blocks, and the work is done %.3g times: does every block "
                         "do all of it? A block has its own part: %s.",
                         blocks, times, exercise->is_python ? "tl.program_id(0)" : "blockIdx");
    if (is_uneven_in(exercise, mine, &by_requests))
        return lk_format("The busiest warp has %.3g requests, the average %.3g: some blocks or "
                         "warps leave their part to others. Give every thread its own part.",
                         mine->value[LEARN_TOTAL_busiest_requests],
                         mine->value[LEARN_TOTAL_requests] / fmax(1, warps));
    double best_longest = best->value[LEARN_TOTAL_longest_warp];
    if (best_longest <= 0 || longest <= UNEVEN * best_longest)
        return NULL;
    if (longest * warps < EVEN * all)
        return lk_format("Every warp does %.3g times the solution's work: is something done twice, "
                         "or thrown away?",
                         longest / best_longest);
    return lk_format("The busiest warp runs %.3g times as long as in the solution: the work is "
                     "not spread over all threads.",
                     longest / best_longest);
}

static void refuse(const struct learn_exercise *exercise, const struct profile_launch *launch,
                   const struct learn_totals *mine, enum learn_total total, const char *shown,
                   struct learn_verdict *verdict)
{
    double value = mine->value[total], best = exercise->best.value[total];
    unsigned line = line_to_blame(launch, total, shown);
    char *why = explain(exercise, launch, mine, total);
    if (best > 0)
        verdict_add_message(verdict, line, "%.6g %s, %.3g times the solution's %.6g", value,
                            infos[total].words, value / best, best);
    else
        verdict_add_message(verdict, line, "%.6g %s; the solution has none", value,
                            infos[total].words);
    if (why)
        verdict_add_detail(verdict, "%s", why);
    free(why);
    verdict_stop(verdict, LEARN_LIMIT, line);
}

/* The measured size is small, and has few blocks: other tiles than the solution's show there. Where
 * the large size is timed too, that one is compared strictly. */
#define SMALL_SIZE 1.3

static double most_of(const struct learn_exercise *exercise, const struct learn_totals *mine,
                      enum learn_total total)
{
    bool is_timed_twice = total == LEARN_TOTAL_time_us && exercise->best.large_us > 0;
    return (is_timed_twice ? SMALL_SIZE : 1) * exercise->total_most[total] *
               exercise->best.value[total] +
           infos[total].slack +
           (total == LEARN_TOTAL_bank_conflicts ? FEW_CONFLICTS * mine->passes : 0);
}

static bool is_smaller(const struct learn_problem *problem, unsigned size)
{
    const double *value = problem->value[size], *most = problem->value[problem->measured];
    for (unsigned i = 0; i < problem->names.variable_count; i++)
        if (value[i] > most[i])
            return false;
    return true;
}

/* Multiples of 16 may have a path of their own, 16 bytes at a time: Triton makes one, and so do
 * people. Beside it, one byte at a time is no special case. */
static double special_case(const struct learn_problem *problem, unsigned size)
{
    const double *value = problem->value[size], *most = problem->value[problem->measured];
    for (unsigned i = 0; i < problem->names.variable_count; i++)
        if (fmod(most[i], 16) == 0 && fmod(value[i], 16) != 0)
            return 16 * SPECIAL_CASE;
    return SPECIAL_CASE;
}

static void refuse_special(const struct learn_problem *problem, unsigned size, const char *what,
                           const char *here, struct learn_verdict *verdict)
{
    verdict_add_message(verdict, 0,
                        "for %s %s, for the larger %s %s: the size that is measured is a special "
                        "case here",
                        problem->size[size], what, problem->size[problem->measured], here);
    verdict_stop(verdict, LEARN_LIMIT, 0);
}

/* Ratios do not grow with the size: those of the smaller size are a little over the limit at most,
 * where rows begin in the middle of a sector. */
static void check_special_ratios(const struct learn_exercise *exercise,
                                 const struct profile_launch *drawn, struct learn_verdict *verdict)
{
    const struct learn_problem *problem = &exercise->problem;
    for (unsigned i = 0; i < exercise->limit_count && verdict->stage == LEARN_PASSED; i++) {
        const struct learn_limit *limit = &exercise->limit[i];
        struct expression_state state = {0};
        struct lk_buf text = {0};
        memcpy(state.variable, problem->value[problem->measured], sizeof state.variable);
        double most = SPECIAL_CASE * expression_eval(limit->most, &state);
        if (limits_is_ratio(limit->counter) &&
            !limits_check(drawn, limit->counter, most, &text).kept)
            refuse_special(problem, drawn->number, text.data, "that is not so", verdict);
        lk_buf_free(&text);
    }
}

/* Elsewhere, tiles that are only partly filled may have conflicts that whole ones have not. */
static bool limits_conflicts(const struct learn_exercise *exercise)
{
    for (unsigned i = 0; i < exercise->limit_count; i++)
        if (strcmp(exercise->limit[i].counter, "shared_conflicts") == 0)
            return true;
    return false;
}

/* A size that is smaller cannot cost much more, unless the measured one is special. What keeps the
 * limit there too hides nothing: it may end early, as its values let it. */
static void check_special(const struct learn_exercise *exercise, const struct learn_totals *mine,
                          const struct profile_launch *drawn, struct learn_verdict *verdict)
{
    const struct learn_problem *problem = &exercise->problem;
    struct learn_totals there = totals_of(drawn);
    if (drawn->fault || drawn->number >= problem->size_count || !is_smaller(problem, drawn->number))
        return;
    const struct {
        const char *words;
        double there, here, slack;
        bool counts;
    } compared[] = {
#define OF(total)                                                                                  \
    {infos[LEARN_TOTAL_##total].words, there.value[LEARN_TOTAL_##total],                           \
     mine->value[LEARN_TOTAL_##total], 2 * infos[LEARN_TOTAL_##total].slack,                       \
     exercise->total_most[LEARN_TOTAL_##total] > 0 &&                                              \
         there.value[LEARN_TOTAL_##total] > most_of(exercise, mine, LEARN_TOTAL_##total)}
        OF(warp_instructions),
        OF(longest_warp),
        OF(requests),
        OF(atomics),
#undef OF
        {infos[LEARN_TOTAL_bank_conflicts].words, there.value[LEARN_TOTAL_bank_conflicts],
         mine->value[LEARN_TOTAL_bank_conflicts], FEW_CONFLICTS * mine->passes,
         limits_conflicts(exercise)},
        {"sectors of global memory", there.sectors, mine->sectors, 64, true}};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        char what[128], here[32];
        double most = special_case(problem, drawn->number) * compared[i].here + compared[i].slack;
        if (!compared[i].counts || compared[i].there <= most)
            continue;
        snprintf(what, sizeof what, "it takes %.6g %s", compared[i].there, compared[i].words);
        snprintf(here, sizeof here, "only %.6g", compared[i].here);
        refuse_special(problem, drawn->number, what, here, verdict);
        return;
    }
    check_special_ratios(exercise, drawn, verdict);
}

void totals_check(const struct learn_exercise *exercise, const struct profile *profile,
                  const char *shown, struct learn_verdict *verdict)
{
    const struct profile_launch *launch = profile->launches[0];
    struct learn_totals mine = totals_of(launch);
    /* Causes before effects: the first that is over tells the most. */
    static const enum learn_total order[] = {
        LEARN_TOTAL_atomics,  LEARN_TOTAL_longest_warp,     LEARN_TOTAL_warp_instructions,
        LEARN_TOTAL_requests, LEARN_TOTAL_busiest_requests, LEARN_TOTAL_bank_conflicts,
        LEARN_TOTAL_time_us};
    bool refused = false;
    verdict->totals = mine;
    for (unsigned i = 0; i < LEARN_TOTALS && exercise->has_figures; i++) {
        enum learn_total total = order[i];
        double factor = exercise->total_most[total], value = mine.value[total];
        double most = most_of(exercise, &mine, total);
        bool kept = factor == 0 || value <= most;
        if (factor > 0 && (!kept || total == LEARN_TOTAL_time_us))
            verdict->counter[verdict->counter_count++] =
                (struct learn_counter){totals_names[total], value, most, kept};
        if (!kept && !refused && verdict->stage == LEARN_PASSED) {
            refuse(exercise, launch, &mine, total, shown, verdict);
            refused = true;
        }
    }
    const struct evenness *evenness[] = {&by_instructions, &by_requests};
    for (unsigned i = 0; i < 2 && exercise->has_figures && verdict->stage == LEARN_PASSED; i++)
        if (is_uneven_in(exercise, &mine, evenness[i]))
            refuse(exercise, launch, &mine, evenness[i]->busiest, shown, verdict);
    for (unsigned i = 1; i < profile->launch_count && verdict->stage == LEARN_PASSED; i++)
        check_special(exercise, &mine, profile->launches[i], verdict);
}

/* Of the results of the large size only a few are compared. But its work grows with the measured
 * size's as the solution's does: a kernel that has much less to do there leaves it out. */
static bool is_left_out(const struct learn_exercise *exercise, struct learn_verdict *verdict)
{
    const struct learn_totals *best = &exercise->best, *mine = &verdict->totals;
    const struct {
        enum learn_total total;
        double large, best_large;
    } compared[] = {
        {LEARN_TOTAL_warp_instructions, mine->large_instructions, best->large_instructions},
        {LEARN_TOTAL_requests, mine->large_requests, best->large_requests}};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        enum learn_total total = compared[i].total;
        double share = mine->value[total] / fmax(1, best->value[total]);
        if (compared[i].best_large <= 0 ||
            compared[i].large >= LEFT_OUT * fmin(1, share) * compared[i].best_large)
            continue;
        verdict_add_message(verdict, 0,
                            "for %s it has %.2g%% of the solution's %s, for %s %.0f%%: the size "
                            "whose time is modelled must not be a special case",
                            exercise->problem.large,
                            100 * compared[i].large / compared[i].best_large, infos[total].words,
                            exercise->problem.size[exercise->problem.measured], 100 * share);
        verdict_stop(verdict, LEARN_LIMIT, 0);
        return true;
    }
    return false;
}

void totals_check_large(const struct learn_exercise *exercise, struct learn_verdict *verdict)
{
    double best = exercise->best.large_us, mine = verdict->totals.large_us;
    double factor = exercise->total_most[LEARN_TOTAL_time_us];
    char yours[32], theirs[32];
    if (!exercise->has_figures || verdict->stage != LEARN_PASSED || best <= 0 ||
        (mine > 0 && is_left_out(exercise, verdict)) || factor <= 0 ||
        (mine > 0 && mine <= factor * best + infos[LEARN_TOTAL_time_us].slack))
        return;
    if (mine > 0)
        verdict_add_message(verdict, 0, "for %s it takes %s, %.3g times the solution's %s",
                            exercise->problem.large, learn_duration(yours, mine), mine / best,
                            learn_duration(theirs, best));
    else
        verdict_add_message(verdict, 0,
                            "for %s it was stopped after 4 million instructions; the "
                            "solution takes %s",
                            exercise->problem.large, learn_duration(theirs, best));
    verdict_stop(verdict, LEARN_LIMIT, 0);
}
