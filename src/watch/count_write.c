/*
 * count_write.c: the counters' file, one JSON object a line: a kernel when it first runs, then its
 * launches. A line is written when its launch ends, so that nothing is lost if the program dies.
 * src/report/profile_read.c reads it; the arrays' columns are in profile_columns.def.
 */
#include "watch/count.h"

#include "watch/counters.h"
#include "watch/replay.h"

#include <stdlib.h>
#include <unistd.h>

/* Where an instruction comes from: [file, line], then where that was inlined, outwards. */
static void put_places(struct lk_buf *out, const struct ptx_module *module,
                       const struct ptx_inst *ptx)
{
    uint32_t at = ptx->loc;
    lk_buf_printf(out, "[");
    for (int depth = 0; at && at < module->loc_count && depth < 16; depth++) {
        const struct ptx_loc *loc = &module->locs[at];
        lk_buf_printf(out, "%s%u,%u", depth ? "," : "", loc->file, loc->line);
        at = loc->inlined_at;
    }
    lk_buf_printf(out, "]");
}

static void put_code(struct lk_buf *out, const struct ptx_module *module,
                     const struct simt_inst *in, const struct watch_inst *what)
{
    const struct {
#define CODE(name) unsigned name;
#include "gpu/profile_columns.def"
    } row = {.ptx_line = in->ptx->line,
             .class = what->class,
             .kind = what->kind,
             .traits = what->traits,
             .bytes = what->bytes,
             .slots = what->slots,
             .load_phases = what->load_phases,
             .shared_phases = what->shared_phases};
#define CODE(name) lk_buf_printf(out, "%u,", row.name);
#include "gpu/profile_columns.def"
    lk_buf_json(out, in->ptx->text);
    lk_buf_printf(out, ",");
    put_places(out, module, in->ptx);
}

static void put_kernel(struct lk_buf *out, const struct simt_launch_state *launch)
{
    static _Atomic uint32_t last;
    struct simt_kernel *kernel = launch->kernel;
    const struct ptx_module *module = kernel->ptx->module;
    kernel->profile_number = ++last;
    lk_buf_printf(out, "{\"kernel\":\"%ld.%u\",\"name\":", (long)getpid(), kernel->profile_number);
    lk_buf_json(out, kernel->ptx->name);
    lk_buf_printf(out, ",\"registers\":%u,\"static_shared\":%u,\"local_bytes\":%u,\"target\":%u",
                  kernel->info.registers, kernel->info.static_shared, kernel->info.local_bytes,
                  module->target);
    if (module->target_suffix)
        lk_buf_printf(out, ",\"target_suffix\":\"%c\"", module->target_suffix);
    if (kernel->assembled_registers)
        lk_buf_printf(out, ",\"assembled_registers\":%u,\"spill_bytes\":%u",
                      kernel->assembled_registers, kernel->spill_bytes);
    lk_buf_printf(out, ",\"files\":[");
    for (uint32_t i = 0; i < module->file_count; i++) {
        lk_buf_printf(out, i ? "," : "");
        lk_buf_json(out, module->files[i] ? module->files[i] : "");
    }
    lk_buf_printf(out, "],\"insts\":[");
    for (uint32_t i = 0; i < launch->code->inst_count; i++) {
        const struct simt_inst *in = &launch->code->insts[i];
        lk_buf_printf(out, i ? ",[" : "[");
        if (!(in->flags & SIMT_FLAG_HIDDEN))
            put_code(out, module, in, &launch->watch->insts[i]);
        lk_buf_printf(out, "]");
    }
    lk_buf_printf(out, "]}\n");
}

static void put_memory(struct lk_buf *out, unsigned space, const struct count_memory *memory)
{
    lk_buf_printf(out, ",[%u", space);
#define MEMORY(name) lk_buf_printf(out, ",%lld", (long long)memory->name);
#include "gpu/profile_columns.def"
    lk_buf_printf(out, "]");
}

static void put_tally(struct lk_buf *out, uint32_t inst, const struct watch_tally *tally,
                      const struct count_inst *counted)
{
    const struct {
#define TALLY(name) unsigned long long name;
#include "gpu/profile_columns.def"
    } row = {.inst = inst,
             .warps = tally->warps,
             .threads = tally->threads,
             .on = tally->on,
             .divergent = tally->divergent,
             .waits = tally->waits,
             .idle = counted->idle};
    const char *before = "[";
#define TALLY(name)                                                                                \
    lk_buf_printf(out, "%s%llu", before, row.name);                                                \
    before = ",";
#include "gpu/profile_columns.def"
    for (unsigned space = 0; space < GPU_SPACES; space++)
        if (counted->memory[space].requests)
            put_memory(out, space, &counted->memory[space]);
    lk_buf_printf(out, "]");
}

static void put_tallies(struct lk_buf *out, const struct counters *counters,
                        const struct simt_launch_state *launch)
{
    const struct simt_watch *watch = launch->watch;
    bool any = false;
    lk_buf_printf(out, ",\"insts\":[");
    for (uint32_t i = 0; i < launch->code->inst_count; i++) {
        if (!watch->tallies[i].warps)
            continue;
        lk_buf_printf(out, any ? "," : "");
        put_tally(out, i, &watch->tallies[i], &counters->insts[i]);
        any = true;
    }
    lk_buf_printf(out, "]");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* launches may end side by side */

void counters_append(const char *text, size_t size)
{
    static FILE *file;
    pthread_mutex_lock(&lock);
    if (!file)
        file = fopen(getenv("LOCKSTEP_PROFILE"), "ae");
    if (file) {
        fwrite(text, 1, size, file);
        fflush(file);
    }
    pthread_mutex_unlock(&lock);
}

void count_write(struct counters *counters, struct simt_launch_state *launch,
                 const struct gpu_counters *sum)
{
    struct lk_buf out = {0};
    pthread_mutex_lock(&lock);
    const struct simt_launch *config = launch->launch;
    if (!launch->kernel->profile_number)
        put_kernel(&out, launch);
    lk_buf_printf(&out, "{\"launch\":\"%ld.%u\",\"gpu\":\"%s\"", (long)getpid(),
                  launch->kernel->profile_number, launch->machine->gpu->id);
    lk_buf_printf(&out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"dynamic_shared\":%u",
                  config->grid[0], config->grid[1], config->grid[2], config->block[0],
                  config->block[1], config->block[2], config->dynamic_shared);
    lk_buf_printf(&out, ",\"counters\":{");
    for (unsigned i = 0; i < gpu_counter_count; i++)
        lk_buf_printf(&out, "%s\"%s\":%llu", i ? "," : "", gpu_counter_infos[i].name,
                      (unsigned long long)*gpu_counter((struct gpu_counters *)sum, i));
    lk_buf_printf(&out, "}");
    put_tallies(&out, counters, launch);
    if (launch->fault->kind != SIMT_OK) {
        lk_buf_printf(&out, ",\"fault\":");
        lk_buf_json(&out, launch->fault->text);
    }
    lk_buf_printf(&out, "}\n");
    fwrite(out.data, 1, out.size, counters->file);
    if (counters->trace)
        trace_write(counters->trace, counters->file);
    if (counters->replay)
        replay_write(counters->replay, launch, counters->file);
    fflush(counters->file);
    pthread_mutex_unlock(&lock);
    lk_buf_free(&out);
}
