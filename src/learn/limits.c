/*
 * limits.c: counters against limits; see limits.h. Ratios are of the worst instruction, so that a
 * good one does not hide a bad one. What warp 0 did is taken from the trace where it is there.
 */
#include "learn/limits.h"

#include <stdlib.h>
#include <string.h>

static const struct ratio {
    const char *name;
    enum gpu_space space;
    enum profile_kind kind;
    const char *verb; /* warp 0 ... 32 sectors */
    const char *unit;
} ratios[] = {
    {"global_load_sectors_per_request", GPU_SPACE_GLOBAL, PROFILE_LOAD, "fetched", "sectors"},
    {"global_store_sectors_per_request", GPU_SPACE_GLOBAL, PROFILE_STORE, "wrote", "sectors"},
    {"shared_load_passes_per_request", GPU_SPACE_SHARED, PROFILE_LOAD, "read shared memory in",
     "passes"},
    {"shared_store_passes_per_request", GPU_SPACE_SHARED, PROFILE_STORE, "wrote shared memory in",
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

bool limits_is_ratio(const char *counter)
{
    return find_ratio(counter) != NULL;
}

bool limits_knows(const char *counter)
{
    return find_ratio(counter) || find_counter(counter) >= 0;
}

/* Ratios ----------------------------------------------------------------------------------------*/

static double per_request(const struct ratio *ratio, const struct profile_memory *memory,
                          bool ideal)
{
    bool shared = ratio->space == GPU_SPACE_SHARED;
    int64_t sum = shared ? (ideal ? memory->wavefronts_ideal : memory->wavefronts)
                         : (ideal ? memory->sectors_ideal : memory->sectors);
    return memory->requests ? (double)sum / (double)memory->requests : 0;
}

/* An access of 16 bytes a lane has four times the sectors of one of 4, and needs them: it counts as
 * what one of 4 bytes would, whose 32 lanes fill 4 sectors, or one pass. */
static double per_narrow_request(const struct ratio *ratio, const struct profile_memory *memory)
{
    double value = per_request(ratio, memory, false), ideal = per_request(ratio, memory, true);
    double narrow = ratio->space == GPU_SPACE_SHARED ? 1 : 4;
    return ideal > narrow ? value * narrow / ideal : value;
}

static int compare_sectors(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static unsigned record_sectors(const struct profile_record *record)
{
    int64_t sectors[64] = {0};
    unsigned count = 0, distinct = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (record->mask >> lane & 1) {
            sectors[count++] = record->addresses[lane] >> 5;
            sectors[count++] = (record->addresses[lane] + record->bytes - 1) >> 5;
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
    for (size_t i = 0; i < launch->trace_count; i++) {
        const struct profile_record *record = &launch->trace[i];
        if (record->block != 0 || record->warp != 0 || record->code != code || !record->space)
            continue;
        unsigned sectors = record_sectors(record);
        most = sectors > most ? sectors : most;
    }
    return most;
}

static void describe_ratio(const struct ratio *ratio, const struct profile_launch *launch,
                           const struct profile_inst *worst, double value, struct lk_buf *text)
{
    const struct profile_memory *memory = worst->memory[ratio->space];
    double ideal = per_request(ratio, memory, true);
    unsigned traced = ratio->space == GPU_SPACE_GLOBAL ? traced_sectors(launch, worst->code) : 0;
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
        double value = per_narrow_request(ratio, memory);
        if (value > result.value) {
            result.value = value;
            worst = inst;
        }
    }
    result.kept = result.value <= most;
    if (!result.kept && worst) {
        describe_ratio(ratio, launch, worst, per_request(ratio, worst->memory[ratio->space], false),
                       text);
        result.file = worst->code->source ? worst->code->source->shown : NULL;
        result.line = worst->code->line;
    }
    return result;
}

/* Totals ----------------------------------------------------------------------------------------*/

static const struct profile_inst *find_worst(const struct gpu_counter_part *part,
                                             const struct profile_launch *launch)
{
    const struct profile_inst *worst = NULL;
    double largest = 0;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        double value = profile_part(part, &launch->insts[i]);
        if (value > largest && launch->insts[i].code->source) {
            largest = value;
            worst = &launch->insts[i];
        }
    }
    return worst;
}

static void describe_conflicts(const struct profile_memory *shared, struct lk_buf *text)
{
    if (shared->requests)
        lk_buf_printf(text, "; here a warp takes %.3g passes, %.3g %s",
                      (double)shared->wavefronts / (double)shared->requests,
                      (double)shared->wavefronts_ideal / (double)shared->requests,
                      shared->wavefronts_ideal == shared->requests ? "suffices" : "suffice");
    if (shared->stride)
        lk_buf_printf(text, " (stride %lld B)", (long long)shared->stride);
}

static struct limits_result check_total(int counter, const struct profile_launch *launch,
                                        double most, struct lk_buf *text)
{
    struct gpu_counters counters = launch->counters;
    const struct gpu_counter_info *info = &gpu_counter_infos[counter];
    struct limits_result result = {.value = (double)*gpu_counter(&counters, (unsigned)counter)};
    result.kept = result.value <= most;
    if (result.kept)
        return result;
    const struct profile_inst *worst = find_worst(&info->part, launch);
    bool conflicts = info->part.of == GPU_OF_MEMORY && info->part.memory == GPU_MEMORY_conflicts;
    if (conflicts)
        lk_buf_printf(text, "bank conflicts: %.0f extra passes, at most %.0f are allowed",
                      result.value, most);
    else
        lk_buf_printf(text, "%s is %.0f, at most %.0f is allowed", info->name, result.value, most);
    if (worst) {
        if (conflicts && worst->memory[GPU_SPACE_SHARED])
            describe_conflicts(worst->memory[GPU_SPACE_SHARED], text);
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

/* With NumPy and CuPy ---------------------------------------------------------------------------*/

static const struct host_counter {
    const char *name, *words;
} host_counters[] = {{"python_lines", "lines of Python that ran"},
                     {"launches", "kernels that CuPy launched"},
                     {"copies_to_gpu", "copies to the GPU"},
                     {"copies_to_host", "copies back from the GPU"},
                     {"bytes_to_gpu", "bytes copied to the GPU"},
                     {"bytes_to_host", "bytes copied back from the GPU"}};

static const struct host_counter *find_host_counter(const char *name)
{
    for (size_t i = 0; i < sizeof host_counters / sizeof *host_counters; i++)
        if (strcmp(host_counters[i].name, name) == 0)
            return &host_counters[i];
    return NULL;
}

bool limits_knows_host(const char *counter)
{
    return find_host_counter(counter) || find_counter(counter) >= 0;
}

struct limits_result limits_check_host(const json_t *counters, const char *counter, double most,
                                       struct lk_buf *text)
{
    const struct host_counter *known = find_host_counter(counter);
    const json_t *object = json_object_get(counters, counter);
    struct limits_result result = {
        .value = json_number_value(json_object_get(object, "value")),
        .line = (unsigned)json_integer_value(json_object_get(object, "line"))};
    result.kept = object && result.value <= most;
    if (!object)
        lk_buf_printf(text, "%s was not counted", counter);
    else if (!result.kept)
        lk_buf_printf(text, "%s is %.0f, at most %.0f is allowed%s%s%s", counter, result.value,
                      most, known ? " (" : "", known ? known->words : "", known ? ")" : "");
    return result;
}
