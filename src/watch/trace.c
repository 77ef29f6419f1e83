/*
 * trace.c: what chosen warps did, access by access and branch by branch (docs/trace.md).
 * LOCKSTEP_TRACE=blocks:0-1,warps:0-3,records:4096 chooses; each part may be left out. Memory is
 * bounded by the number of records a launch may have.
 */
#include "watch/count.h"

#include <stdlib.h>

struct trace_range {
    uint64_t first, last;
};

struct trace {
    struct trace_range blocks, warps;
    uint64_t limit; /* records of a launch */
    uint64_t count, dropped;
    struct lk_buf records; /* of this launch, as JSON */
};

static struct trace_range range_from(const char *text, struct trace_range otherwise)
{
    char *end;
    struct trace_range range = {strtoull(text, &end, 10), 0};
    if (end == text)
        return otherwise;
    range.last = *end == '-' ? strtoull(end + 1, NULL, 10) : range.first;
    return range;
}

struct trace *trace_open(void)
{
    const char *text = getenv("LOCKSTEP_TRACE"), *part;
    if (!text || !*text)
        return NULL;
    struct trace *trace = lk_alloc_zeroed(sizeof(*trace));
    trace->blocks = (struct trace_range){0, 1};
    trace->warps = (struct trace_range){0, 3};
    trace->limit = 4096;
    if ((part = strstr(text, "blocks:")))
        trace->blocks = range_from(part + 7, trace->blocks);
    if ((part = strstr(text, "warps:")))
        trace->warps = range_from(part + 6, trace->warps);
    if ((part = strstr(text, "records:")))
        trace->limit = strtoull(part + 8, NULL, 10);
    return trace;
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

/* Begins a record, unless the warp is not one of those chosen or there are enough. */
static bool begin(struct trace *trace, const struct simt_warp *w, const struct simt_inst *in,
                  uint32_t mask)
{
    uint64_t block = w->block->linear;
    if (block < trace->blocks.first || block > trace->blocks.last ||
        w->index < trace->warps.first || w->index > trace->warps.last)
        return false;
    if (trace->count == trace->limit) {
        trace->dropped++;
        return false;
    }
    const struct simt_code *code = w->block->launch->code;
    lk_buf_printf(&trace->records, "%s[%llu,%u,%u,%u,%u", trace->count++ ? "," : "",
                  (unsigned long long)block, w->index, (unsigned)(in - code->insts), w->path_mask,
                  mask);
    return true;
}

void trace_access(struct trace *trace, const struct watch_access *access)
{
    static const char *const spaces[] = {
        [PTX_SPACE_GLOBAL] = "global",
        [PTX_SPACE_SHARED] = "shared",
        [PTX_SPACE_LOCAL] = "local",
        [PTX_SPACE_CONST] = "const",
    };
    if (!begin(trace, access->w, access->in, access->mask))
        return;
    lk_buf_printf(&trace->records, ",\"%s\",\"%s\",%u,[", spaces[access->space],
                  access->is_write && access->is_read ? "atomic"
                  : access->is_write                  ? "store"
                                                      : "load",
                  access->bytes);
    for (int i = 0; i < SIMT_LANES; i++) /* signed: JSON's integers end at 2^63 */
        lk_buf_printf(&trace->records, "%s%lld", i ? "," : "",
                      access->mask >> i & 1 ? (long long)access->addresses[i] : 0ll);
    lk_buf_printf(&trace->records, "]]");
}

void trace_branch(struct trace *trace, struct simt_warp *w, const struct simt_inst *in)
{
    if (begin(trace, w, in, w->mask))
        lk_buf_printf(&trace->records, ",\"branch\"]");
}

void trace_write(struct trace *trace, FILE *file)
{
    fprintf(file, "{\"trace\":[%s],\"dropped\":%llu}\n",
            trace->records.size ? trace->records.data : "", (unsigned long long)trace->dropped);
}
