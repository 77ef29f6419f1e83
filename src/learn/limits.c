/*
 * limits.c: counters against limits; see limits.h. Ratios are of the worst instruction, so that a
 * good one does not hide a bad one. What warp 0 did is taken from the trace where it is there.
 */
#include "learn/limits.h"

#include <stdlib.h>
#include <string.h>

static const struct ratio {
    const char *name;
    enum profile_space space;
    enum profile_kind kind;
    const char *verb; /* warp 0 ... 32 sectors */
    const char *unit;
} ratios[] = {
    {"global_load_sectors_per_request", PROFILE_GLOBAL, PROFILE_LOAD, "fetched", "sectors"},
    {"global_store_sectors_per_request", PROFILE_GLOBAL, PROFILE_STORE, "wrote", "sectors"},
    {"shared_load_passes_per_request", PROFILE_SHARED, PROFILE_LOAD, "read shared memory in",
     "passes"},
    {"shared_store_passes_per_request", PROFILE_SHARED, PROFILE_STORE, "wrote shared memory in",
     "passes"},
};
#define RATIOS (sizeof ratios / sizeof ratios[0])

static const struct ratio *find_ratio(const char *name)
{
    for (size_t i = 0; i < RATIOS; i++)
        if (strcmp(ratios[i].name, name) == 0)
            return &ratios[i];
    return NULL;
}

static int find_counter(const char *name)
{
    for (unsigned i = 0; i < gpu_counter_count; i++)
        if (strcmp(gpu_counter_infos[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool limits_knows(const char *counter)
{
    return find_ratio(counter) || find_counter(counter) >= 0;
}

/* Ratios ----------------------------------------------------------------------------------------*/

static double per_request(const struct ratio *ratio, const struct profile_memory *memory, bool ideal)
{
    bool shared = ratio->space == PROFILE_SHARED;
    int64_t sum = shared ? (ideal ? memory->wavefronts_ideal : memory->wavefronts)
                         : (ideal ? memory->sectors_ideal : memory->sectors);
    return memory->requests ? (double)sum / (double)memory->requests : 0;
}

static int compare_sectors(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Sectors of a record of the trace: [block, warp, instruction, active, mask, space, kind, bytes,
 * [addresses]]. */
static unsigned record_sectors(json_t *record)
{
    int64_t sectors[64];
    unsigned count = 0, distinct = 0;
    int64_t mask = json_integer_value(json_array_get(record, 4));
    int64_t bytes = json_integer_value(json_array_get(record, 7));
    json_t *addresses = json_array_get(record, 8);
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1) {
            int64_t address = json_integer_value(json_array_get(addresses, lane));
            sectors[count++] = address >> 5;
            sectors[count++] = (address + bytes - 1) >> 5;
        }
    qsort(sectors, count, sizeof sectors[0], compare_sectors);
    for (unsigned i = 0; i < count; i++)
        distinct += i == 0 || sectors[i] != sectors[i - 1];
    return distinct;
}

/* What warp 0 of block 0 did at an instruction, at most; 0 if the trace does not say. */
static unsigned traced_sectors(const struct profile_launch *launch, const struct profile_code *code)
{
    unsigned most = 0;
    int64_t number = code - launch->kernel->code;
    size_t i;
    json_t *record;
    json_array_foreach(launch->trace, i, record)
    {
        if (json_integer_value(json_array_get(record, 0)) != 0 ||
            json_integer_value(json_array_get(record, 1)) != 0 ||
            json_integer_value(json_array_get(record, 2)) != number ||
            json_array_size(record) < 9)
            continue;
        unsigned sectors = record_sectors(record);
        most = sectors > most ? sectors : most;
    }
    return most;
}

static void say_ratio(const struct ratio *ratio, const struct profile_launch *launch,
                      const struct profile_inst *worst, double value, struct lk_buf *text)
{
    const struct profile_memory *memory = worst->memory[ratio->space];
    double ideal = per_request(ratio, memory, true);
    unsigned traced =
        ratio->space == PROFILE_GLOBAL ? traced_sectors(launch, worst->code) : 0;
    if (traced >= value)
        lk_buf_printf(text, "warp 0 %s %u %s, %.3g %s", ratio->verb, traced, ratio->unit, ideal,
                      ideal == 1 ? "suffices" : "suffice");
    else
        lk_buf_printf(text, "a warp %s %.3g %s on average, %.3g %s", ratio->verb, value,
                      ratio->unit, ideal, ideal == 1 ? "suffices" : "suffice");
    if (memory->stride)
        lk_buf_printf(text, " (stride %lld B)", (long long)memory->stride);
}

static struct limits_result check_ratio(const struct ratio *ratio,
                                        const struct profile_launch *launch, double most,
                                        struct lk_buf *text)
{
    struct limits_result result = {.kept = true};
    const struct profile_inst *worst = NULL;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        const struct profile_memory *memory = inst->memory[ratio->space];
        if (inst->code->kind != ratio->kind || !memory)
            continue;
        double value = per_request(ratio, memory, false);
        if (value > result.value) {
            result.value = value;
            worst = inst;
        }
    }
    result.kept = result.value <= most;
    if (!result.kept && worst) {
        say_ratio(ratio, launch, worst, result.value, text);
        result.file = worst->code->source ? worst->code->source->shown : NULL;
        result.line = worst->code->line;
    }
    return result;
}

/* Totals ----------------------------------------------------------------------------------------*/

/* How much of a counter is due to an instruction; by what the counter's name says it is of. */
static double share(const char *counter, const struct profile_inst *inst)
{
    static const struct profile_memory none = {0};
    const struct profile_memory *global = inst->memory[PROFILE_GLOBAL];
    const struct profile_memory *shared = inst->memory[PROFILE_SHARED];
    global = global ? global : &none;
    shared = shared ? shared : &none;
    enum profile_kind kind = inst->code->kind;
    if ((strstr(counter, "_load") && kind != PROFILE_LOAD) ||
        (strstr(counter, "_store") && kind != PROFILE_STORE))
        return 0;
    if (strstr(counter, "conflicts"))
        return (double)shared->conflicts;
    if (strncmp(counter, "shared", 6) == 0)
        return (double)shared->wavefronts;
    if (strncmp(counter, "dram", 4) == 0)
        return (double)global->dram_sectors;
    if (strncmp(counter, "global", 6) == 0)
        return (double)global->sectors;
    if (strncmp(counter, "l2", 2) == 0)
        return (double)global->l2_sectors;
    if (strstr(counter, "diverg"))
        return (double)inst->divergent;
    if (strstr(counter, "barrier"))
        return (double)inst->waits;
    return (double)inst->warps;
}

static struct limits_result check_total(int counter, const struct profile_launch *launch,
                                        double most, struct lk_buf *text)
{
    struct gpu_counters counters = launch->counters;
    const struct gpu_counter_info *info = &gpu_counter_infos[counter];
    struct limits_result result = {.value = (double)*gpu_counter(&counters, (unsigned)counter)};
    const struct profile_inst *worst = NULL;
    double largest = 0;
    result.kept = result.value <= most;
    if (result.kept)
        return result;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        double part = share(info->name, &launch->insts[i]);
        if (part > largest && launch->insts[i].code->source) {
            largest = part;
            worst = &launch->insts[i];
        }
    }
    if (strstr(info->name, "conflicts"))
        lk_buf_printf(text, "bank conflicts: %.0f extra passes, at most %.0f are allowed",
                      result.value, most);
    else
        lk_buf_printf(text, "%s is %.0f, at most %.0f is allowed", info->name, result.value, most);
    if (worst) {
        const struct profile_memory *shared = worst->memory[PROFILE_SHARED];
        if (strstr(info->name, "conflicts") && shared && shared->requests)
            lk_buf_printf(text, "; here a warp takes %.3g passes, %.3g %s",
                          (double)shared->wavefronts / (double)shared->requests,
                          (double)shared->wavefronts_ideal / (double)shared->requests,
                          shared->wavefronts_ideal == shared->requests ? "suffices" : "suffice");
        if (strstr(info->name, "conflicts") && shared && shared->stride)
            lk_buf_printf(text, " (stride %lld B)", (long long)shared->stride);
        result.file = worst->code->source->shown;
        result.line = worst->code->line;
    }
    return result;
}

struct limits_result limits_check(const struct profile_launch *launch, const char *counter,
                                  double most, struct lk_buf *text)
{
    const struct ratio *ratio = find_ratio(counter);
    return ratio ? check_ratio(ratio, launch, most, text)
                 : check_total(find_counter(counter), launch, most, text);
}
