/*
 * profile_json.c: a profile for programs: `profile --json`. docs/profile.md says what is in it.
 */
#include "gpu/whatif.h"
#include "report/report.h"

#include <limits.h>

static json_t *triple(const unsigned *values)
{
    return json_pack("[iii]", (int)values[0], (int)values[1], (int)values[2]);
}

static json_t *limit(unsigned blocks)
{
    return blocks == UINT_MAX ? json_null() : json_integer(blocks);
}

static json_t *whatifs(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                       size_t shared)
{
    struct gpu_whatif rows[GPU_WHATIFS];
    unsigned count = gpu_whatifs(gpu, threads, registers, shared, rows);
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{sI si si sf ss sb}", gpu_whatif_names[rows[i].kind],
                                        (json_int_t)rows[i].value, "blocks_per_sm",
                                        (int)rows[i].occupancy.blocks_per_sm, "warps_per_sm",
                                        (int)rows[i].occupancy.warps_per_sm, "occupancy",
                                        rows[i].occupancy.fraction, "limiter",
                                        rows[i].occupancy.limiter, "now", (int)rows[i].is_now));
    return list;
}

json_t *report_occupancy_json(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                              size_t shared)
{
    struct gpu_occupancy got = gpu_occupancy(gpu, threads, registers, shared);
    return json_pack("{sI sI sI si si sf ss so so so so so}", "threads", (json_int_t)threads,
                     "registers", (json_int_t)registers, "shared_bytes", (json_int_t)shared,
                     "blocks_per_sm", (int)got.blocks_per_sm, "warps_per_sm", (int)got.warps_per_sm,
                     "occupancy", got.fraction, "limiter", got.limiter, "limit_warps",
                     limit(got.limit_warps), "limit_registers", limit(got.limit_registers),
                     "limit_shared", limit(got.limit_shared), "limit_blocks",
                     limit(got.limit_blocks), "what_if", whatifs(gpu, threads, registers, shared));
}

/* By ncu's name where it has one, else by ours. */
static json_t *counters(struct gpu_counters *values)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < gpu_counter_count; i++) {
        const struct gpu_counter_info *info = &gpu_counter_infos[i];
        json_object_set_new(object, *info->ncu ? info->ncu : info->name,
                            json_integer((json_int_t)*gpu_counter(values, i)));
    }
    return object;
}

static json_t *memory(const struct profile_memory *memory)
{
    json_t *object = json_object();
#define MEMORY(name) json_object_set_new(object, #name, json_integer(memory->name));
#include "gpu/profile_columns.def"
    return object;
}

static json_t *file_name(const struct profile_source *source)
{
    return source ? json_string(source->shown) : json_null();
}

static json_t *text_or_null(const char *text)
{
    json_t *string = text ? json_string(text) : NULL; /* NULL too if it is not UTF-8 */
    return string ? string : json_null();
}

static json_t *lines(const struct profile_launch *launch)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < launch->line_count; i++) {
        const struct profile_line *line = &launch->lines[i];
        json_t *row = json_pack(
            "{so si so sf sf sf sI sI sI sI sI}", "file", file_name(line->source), "line",
            (int)line->line, "source", text_or_null(profile_source_line(line->source, line->line)),
            "heat", line->heat, "issue", line->issue, "traffic", line->traffic, "warp_instructions",
            (json_int_t)line->warps, "thread_instructions", (json_int_t)line->threads,
            "thread_instructions_on", (json_int_t)line->on, "divergent_branches",
            (json_int_t)line->divergent, "barrier_waits", (json_int_t)line->waits);
        if (line->idle)
            json_object_set_new(row, "barrier_idle", json_integer((json_int_t)line->idle));
        for (int space = 0; space < GPU_SPACES; space++)
            if (line->memory[space].requests)
                json_object_set_new(row, gpu_space_keys[space], memory(&line->memory[space]));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *advice(const struct profile_launch *launch)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < launch->advice_count; i++) {
        const struct advice *each = &launch->advice[i];
        json_array_append_new(list,
                              json_pack("{ss so si so sf}", "rule", each->rule, "file",
                                        file_name(each->source), "line", (int)each->line, "text",
                                        text_or_null(each->text), "gain", each->gain));
    }
    return list;
}

static json_t *parts(const struct gpu_model *model)
{
    json_t *object = json_object();
    for (int i = 0; i < GPU_BOUND_COUNT; i++)
        json_object_set_new(object, gpu_bound_keys[i], json_real(model->parts[i] * 1e6));
    return object;
}

static json_t *launch_json(struct profile_launch *launch)
{
    const struct gpu_model *model = &launch->model;
    const struct profile_kernel *kernel = launch->kernel;
    json_t *object = json_pack(
        "{ss ss si so so si si si ss si sf ss sf sf sf sf sf so so so so so}", "name", kernel->name,
        "mangled", kernel->mangled, "launch", (int)launch->number, "grid", triple(launch->grid),
        "block", triple(launch->block), "static_shared", (int)kernel->static_shared,
        "dynamic_shared", (int)launch->dynamic_shared, "registers", (int)kernel->registers,
        "registers_from", kernel->registers_from, "local_bytes", (int)kernel->local_bytes,
        "time_us", model->seconds * 1e6, "bound_by", gpu_bound_keys[model->bound], "roof",
        model->roof, "waves", model->waves, "tail", model->tail, "flops", model->flops,
        "dram_bytes", model->bytes, "parts_us", parts(model), "occupancy",
        report_occupancy_json(launch->gpu, launch->shape.threads, launch->shape.registers,
                              launch->shape.shared),
        "counters", counters(&launch->counters), "lines", lines(launch), "advice", advice(launch));
    if (launch->fault)
        json_object_set_new(object, "fault", text_or_null(launch->fault));
    return object;
}

json_t *report_profile_json(const struct profile *profile, const struct report_run *run)
{
    json_t *kernels = json_array();
    for (unsigned i = 0; i < profile->launch_count; i++)
        json_array_append_new(kernels, launch_json(profile->launches[i]));
    const char *gpu = profile->launch_count ? profile->launches[0]->gpu->id : "none";
    const char *name = lk_arena_printf(profile->arena, "sim:%s", gpu);
    return json_pack("{ss sb so si so so}", "gpu", name, "modelled", 1, "program",
                     text_or_null(run->program), "status", run->status, "kernels", kernels,
                     "timelines", timelines_json(&profile->timelines));
}
