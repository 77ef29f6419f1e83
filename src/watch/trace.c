/*
 * trace.c: what chosen warps did, access by access and branch by branch (docs/trace.md).
 * LOCKSTEP_TRACE=blocks:0-1,warps:0-3,records:4096 chooses; each part is optional. Memory is
 * bounded by the number of records a launch may have.
 */
#include "watch/chosen.h"
#include "watch/count.h"

#include <stdlib.h>

struct trace {
    struct chosen_range blocks, warps;
    uint64_t limit; /* records of a launch */
    uint64_t count, dropped;
    struct lk_buf records; /* of this launch, as JSON */
};

static void choose(void *context, const char *name, const char *value)
{
    struct trace *trace = context;
    if (strcmp(name, "blocks") == 0)
        trace->blocks = chosen_range(value);
    else if (strcmp(name, "warps") == 0)
        trace->warps = chosen_range(value);
    else if (strcmp(name, "records") == 0)
        trace->limit = strtoull(value, NULL, 10);
}

struct trace *trace_open(void)
{
    struct trace trace = {.blocks = {0, 1}, .warps = {0, 3}, .limit = 4096};
    if (!chosen_read("LOCKSTEP_TRACE", choose, &trace))
        return NULL;
    struct trace *kept = lk_alloc(sizeof(*kept));
    *kept = trace;
    return kept;
}

void trace_close(struct trace *trace)
{
    if (!trace)
        return;
    lk_buf_free(&trace->records);
    free(trace);
}

void trace_launch(struct trace *trace, struct simt_launch_state *launch)
{
    trace->count = trace->dropped = 0;
    trace->records.size = 0;
    (void)launch;
}

struct record {
    const struct simt_warp *w;
    const struct simt_inst *in;
    uint32_t mask;
    const char *kind;
    const struct watch_access *access; /* NULL: a branch */
};

static void put_addresses(struct lk_buf *out, const struct watch_access *access)
{
    for (int i = 0; i < SIMT_LANES; i++) /* signed: JSON's integers end at 2^63 */
        lk_buf_printf(out, "%s%lld", i ? "," : "[",
                      access->mask >> i & 1 ? (long long)access->addresses[i] : 0ll);
    lk_buf_printf(out, "]");
}

static void put_column(struct lk_buf *out, enum gpu_trace_column column,
                       const struct record *record)
{
    static const char *const spaces[] = {
        [PTX_SPACE_GLOBAL] = "global",
        [PTX_SPACE_SHARED] = "shared",
        [PTX_SPACE_LOCAL] = "local",
        [PTX_SPACE_CONST] = "const",
    };
    switch (column) {
    case GPU_TRACE_block:
        lk_buf_printf(out, "%llu", (unsigned long long)record->w->block->linear);
        break;
    case GPU_TRACE_warp:
        lk_buf_printf(out, "%u", record->w->index);
        break;
    case GPU_TRACE_inst:
        lk_buf_printf(out, "%u", (unsigned)(record->in - record->w->block->launch->code->insts));
        break;
    case GPU_TRACE_active:
        lk_buf_printf(out, "%u", record->w->path_mask);
        break;
    case GPU_TRACE_mask:
        lk_buf_printf(out, "%u", record->mask);
        break;
    case GPU_TRACE_kind:
        lk_buf_printf(out, "\"%s\"", record->kind);
        break;
    case GPU_TRACE_space:
        lk_buf_printf(out, "\"%s\"", spaces[record->access->space]);
        break;
    case GPU_TRACE_bytes:
        lk_buf_printf(out, "%u", record->access->bytes);
        break;
    case GPU_TRACE_addresses:
        put_addresses(out, record->access);
        break;
    case GPU_TRACE_COLUMNS:
        break;
    }
}

/* Adds a record, unless the warp is not one of those chosen or there are enough. */
static void add(struct trace *trace, const struct record *record)
{
    uint64_t block = record->w->block->linear;
    uint32_t warp = record->w->index;
    if (!chosen_has(trace->blocks, block) || !chosen_has(trace->warps, warp))
        return;
    if (trace->count == trace->limit) {
        trace->dropped++;
        return;
    }
    unsigned columns = record->access ? GPU_TRACE_COLUMNS : GPU_TRACE_space;
    lk_buf_printf(&trace->records, trace->count++ ? ",[" : "[");
    for (unsigned i = 0; i < columns; i++) {
        lk_buf_printf(&trace->records, i ? "," : "");
        put_column(&trace->records, (enum gpu_trace_column)i, record);
    }
    lk_buf_printf(&trace->records, "]");
}

void trace_access(struct trace *trace, const struct watch_access *access)
{
    const char *kind = access->what->counts_lanes            ? "count"
                       : access->is_write && access->is_read ? "atomic"
                       : access->is_write                    ? "store"
                                                             : "load";
    add(trace, &(struct record){access->w, access->in, access->mask, kind, access});
}

void trace_branch(struct trace *trace, struct simt_warp *w, const struct simt_inst *in)
{
    add(trace, &(struct record){w, in, w->mask, "branch", NULL});
}

void trace_write(struct trace *trace, FILE *file)
{
    fprintf(file, "{\"trace\":[%s],\"dropped\":%llu}\n",
            trace->records.size ? trace->records.data : "", (unsigned long long)trace->dropped);
}
