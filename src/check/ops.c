/*
 * ops.c: operations that touch the same bytes, at least one of them writing, though nothing orders
 * them: kernels of two streams, copies and memsets beside them, nodes of a graph without an edge.
 * See ops.h for how order is kept. What kernels touch is known from the cells of race.c, which keep
 * the segment of the last write and reads; what copies touch is known when they are asked for.
 */
#include "check/ops.h"

#include <stdlib.h>

enum { OPS_MOST = 4096 }; /* remembered; older ones are taken to be ordered */

pthread_mutex_t check_ops_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct check_op *first, *last;
    size_t count;
    uint32_t numbers;
    uint64_t *streams; /* [index]: id */
    uint32_t *counts;  /* [index]: operations so far */
    uint32_t stream_count, stream_capacity;
    uint32_t *host; /* [index]: the host has waited for so many */
} all;

static __thread struct check_op *current; /* that runs in this thread */

struct check_op *check_ops_first(void)
{
    return all.first;
}

const struct check_op *check_ops_current(void)
{
    return current;
}

/* Order -----------------------------------------------------------------------------------------*/

static uint32_t stream_index(uint64_t id)
{
    for (uint32_t i = all.stream_count; i-- > 0;)
        if (all.streams[i] == id)
            return i;
    if (all.stream_count == all.stream_capacity) {
        uint32_t old = all.stream_capacity, more = old * 2 + 16;
        all.streams = lk_realloc(all.streams, more * sizeof(*all.streams));
        all.counts = lk_realloc(all.counts, more * sizeof(*all.counts));
        all.host = lk_realloc(all.host, more * sizeof(*all.host));
        memset(all.counts + old, 0, (more - old) * sizeof(*all.counts));
        memset(all.host + old, 0, (more - old) * sizeof(*all.host));
        all.stream_capacity = more;
    }
    all.streams[all.stream_count] = id;
    return all.stream_count++;
}

bool check_op_is_before(const struct check_op *a, const struct check_op *b)
{
    const struct check_op *x = a->graph ? a->graph : a, *y = b->graph ? b->graph : b;
    if (x == y)
        return a == b || !a->graph || !b->graph ||
               (a->node < b->node && b->before[a->node / 64] >> (a->node % 64) & 1);
    return x->stream < y->clock_count && y->clock[x->stream] >= x->count;
}

bool check_op_is_synced(const struct check_op *op)
{
    const struct check_op *whole = op->graph ? op->graph : op;
    return all.host[whole->stream] >= whole->count;
}

static void join_clock(uint32_t *clock, uint32_t count, const struct check_op *op)
{
    const struct check_op *whole = op->graph ? op->graph : op;
    for (uint32_t i = 0; i < whole->clock_count && i < count; i++)
        clock[i] = clock[i] > whole->clock[i] ? clock[i] : whole->clock[i];
    if (whole->stream < count && clock[whole->stream] < whole->count)
        clock[whole->stream] = whole->count;
}

/* Records ---------------------------------------------------------------------------------------*/

static void release(struct check_op *op)
{
    if (!op || --op->references)
        return;
    release(op->graph);
    free(op->clock);
    free(op->before);
    free(op->name);
    free(op);
}

void check_op_drop(struct check_op *op)
{
    release(op);
}

uint64_t check_op_key(const struct check_op *op)
{
    uint64_t key = op->node + 1;
    if (!op->graph)
        return op->callers.at[0];
    for (const char *at = op->name ? op->name : ""; *at; at++)
        key = (key ^ (unsigned char)*at) * 0x100000001b3u;
    return key;
}

static void drop_first(void)
{
    struct check_op *op = all.first;
    all.first = op->next;
    if (!all.first)
        all.last = NULL;
    all.count--;
    op->is_listed = false;
    release(op);
}

/* Once the host has waited for all, whatever comes is ordered after all. */
static void prune(void)
{
    bool all_synced = true;
    for (const struct check_op *op = all.first; op && all_synced; op = op->next)
        all_synced = check_op_is_synced(op);
    while (all.first && (all_synced || all.count > OPS_MOST))
        drop_first();
}

static void put_in_graph(struct check_op *op, struct check_op *graph,
                         const struct simt_op_info *info)
{
    op->graph = graph;
    graph->references++;
    op->node = graph->nodes++;
    op->before = lk_alloc_zeroed((op->node / 64 + 1) * sizeof(*op->before));
    for (size_t i = 0; i < info->after_count; i++) {
        const struct check_op *before = info->after[i];
        for (uint32_t k = 0; k <= before->node / 64; k++)
            op->before[k] |= before->before[k];
        op->before[before->node / 64] |= UINT64_C(1) << (before->node % 64);
    }
    op->stream_id = graph->stream_id;
    op->callers = graph->callers;
}

static void put_in_stream(struct check_op *op, const struct simt_op_info *info)
{
    op->stream_id = info->stream;
    op->stream = stream_index(info->stream);
    op->count = ++all.counts[op->stream];
    op->may_begin_early = info->may_begin_early && all.host[op->stream] < op->count - 1;
    op->clock_count = all.stream_count;
    op->clock = lk_alloc(all.stream_count * sizeof(*op->clock));
    memcpy(op->clock, all.host, all.stream_count * sizeof(*op->clock));
    for (size_t i = 0; i < info->after_count; i++)
        join_clock(op->clock, op->clock_count, info->after[i]);
}

/* Boxes -----------------------------------------------------------------------------------------*/

bool check_box_has(const struct simt_box *box, uint64_t address, uint64_t size)
{
    for (size_t y = 0; y < box->rows; y++) {
        uint64_t row = box->address + y * box->pitch;
        if (row < address + size && address < row + box->width)
            return true;
    }
    return false;
}

static uint64_t end_of(const struct simt_box *box)
{
    return box->address + (box->rows - 1) * box->pitch + box->width;
}

/* The first byte of both; false: they have none in common. */
static bool overlap(const struct simt_box *a, const struct simt_box *b, uint64_t *at)
{
    if (!a->rows || !b->rows || a->address >= end_of(b) || b->address >= end_of(a))
        return false;
    for (size_t y = 0; y < a->rows; y++) {
        uint64_t row = a->address + y * a->pitch;
        for (size_t k = 0; k < b->rows; k++) {
            uint64_t other = b->address + k * b->pitch;
            if (row >= other + b->width || other >= row + a->width)
                continue;
            *at = row > other ? row : other;
            return true;
        }
    }
    return false;
}

/* Did the launch write the word, or read it? */
static bool cell_touched(const struct check_cell *cell, const struct check_op *op, bool *wrote)
{
    *wrote = cell->write_segment >= op->first_segment && cell->write_segment <= op->last_segment;
    for (int i = 0; i < 2; i++)
        if (cell->read_segment[i] >= op->first_segment && cell->read_segment[i] <= op->last_segment)
            return true;
    return *wrote;
}

/* The first byte of the box that the launch touched in conflict with it. */
static bool kernel_overlap(const struct check_op *kernel, const struct simt_box *box, uint64_t *at,
                           bool *wrote)
{
    struct check *check = kernel->check;
    uint64_t base = check->machine->memory.base;
    for (size_t y = 0; y < box->rows; y++) {
        uint64_t from = box->address + y * box->pitch - base, end = from + box->width;
        for (uint64_t offset = from & ~UINT64_C(3); offset < end && offset < SIMT_ARENA;
             offset += 4) {
            const struct check_chunk *chunk = check->chunks[offset >> CHECK_CHUNK_BITS];
            if (!chunk || !chunk->cells) {
                offset |= CHECK_CHUNK - 4;
                continue;
            }
            const struct check_cell *cell = &chunk->cells[(offset & (CHECK_CHUNK - 1)) / 4];
            if (cell_touched(cell, kernel, wrote) && (*wrote || box->is_write)) {
                *at = base + (offset > from ? offset : from);
                return true;
            }
        }
    }
    return false;
}

/* Reports ---------------------------------------------------------------------------------------*/

static const char *kind_name(const struct check_op *op)
{
    switch (op->kind) {
    case SIMT_OP_KERNEL:
        return "kernel";
    case SIMT_OP_COPY:
        return "a copy";
    case SIMT_OP_FILL:
        return "a memset";
    case SIMT_OP_FREE:
        return "a free";
    default:
        return "an operation";
    }
}

void check_op_name(const struct check_op *op, struct lk_buf *text)
{
    lk_buf_printf(text, "%s%s", kind_name(op), op->name ? " " : "");
    if (op->name)
        check_name(op->name, text);
    if (op->graph)
        lk_buf_printf(text, " (operation #%u, node %u of a graph)", op->number, op->node + 1);
    else
        lk_buf_printf(text, " (operation #%u, stream %llu)", op->number,
                      (unsigned long long)op->stream_id);
}

static const char *remedy(const struct check_op *a, const struct check_op *b)
{
    return a->graph && a->graph == b->graph
               ? "the graph has no path of edges between them; add a dependency"
               : "no event, stream or synchronisation orders them; record an event after the first "
                 "and let the second's stream wait for it, or use one stream";
}

#define EARLY_REMEDY                                                                               \
    "the second may begin before the first has ended (programmatic stream serialization); wait "   \
    "before the access: cudaGridDependencySynchronize(), or griddepcontrol.wait"

static void describe(struct check *check, struct check_subject *subject, struct lk_buf *where)
{
    lk_buf_add(where, "", 0);
    if (check_find_allocation(check, subject->address, &subject->allocation))
        lk_buf_printf(where, " (byte %llu of " CHECK_ALLOCATION ")",
                      (unsigned long long)(subject->address - subject->allocation.address));
}

/* Two operations, neither of which is running. */
static void report(struct check *check, const struct check_op *op, bool is_write,
                   const struct check_op *other, bool was_write, uint64_t address)
{
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    struct lk_buf where = {0}, mine = {0}, theirs = {0};
    if (check_is_known_pair(check, check_op_key(op), check_op_key(other)))
        return;
    describe(check, &subject, &where);
    check_op_name(op, &mine);
    check_op_name(other, &theirs);
    check_report_ops(check, &subject, NULL, &op->callers, &other->callers, other->name,
                     kind_name(other), "race between %s: %s %s 0x%llx%s, which %s %s: %s",
                     op->graph && op->graph == other->graph ? "graph nodes" : "streams", mine.data,
                     is_write ? "writes" : "reads", (unsigned long long)address, where.data,
                     theirs.data, was_write ? "writes" : "reads", remedy(op, other));
    lk_buf_free(&where);
    lk_buf_free(&mine);
    lk_buf_free(&theirs);
}

/* Programmatic launches ------------------------------------------------------------------------ */

/* Has the warp waited for the grids before, or learnt of one that has? */
static bool waited_for_grid(const struct simt_warp *w)
{
    const struct check_block *block = w->block->check;
    const struct check_warp *warp = &block->warps[w->index];
    const uint32_t *row = check_known_by(block, w->index);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint32_t time = block->warps[i].waited_for_grid;
        if (time && (i == w->index || row[i] >= time))
            return true;
    }
    return warp->foreign; /* another block may have waited for it */
}

static bool lets_next_begin(const struct check *check)
{
    const struct simt_code *code = check->launch->code;
    for (uint32_t i = 0; i < code->inst_count; i++)
        if (code->insts[i].ptx->op == PTX_OP_GRIDDEPCONTROL &&
            ptx_has(code->insts[i].ptx, PTX_MOD_LAUNCH_DEPENDENTS))
            return true;
    return false;
}

/* The kernel that may not have ended when op begins. */
static const struct check_op *before_early(const struct check_op *op)
{
    for (const struct check_op *other = all.first; other && op->may_begin_early;
         other = other->next)
        if (!other->graph && other->lets_begin && other->last_segment &&
            other->check == op->check && other->stream == op->stream &&
            other->count + 1 == op->count)
            return other;
    return NULL;
}

/* Conflicts ------------------------------------------------------------------------------------ */

static bool is_ordered(const struct check *check, const struct simt_warp *w,
                       const struct check_op *other)
{
    if (other == check->early)
        return waited_for_grid(w);
    return check_op_is_before(other, check->op) || check_op_is_before(check->op, other);
}

void check_ops_conflict(struct check *check, const struct watch_access *access, int lane,
                        uint64_t address, bool is_write, uint32_t segment, bool was_write)
{
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    struct lk_buf where = {0}, mine = {0}, theirs = {0};
    pthread_mutex_lock(&check_ops_lock);
    const struct check_op *op = check->op, *other = all.first;
    while (other && !(other->check == check && segment >= other->first_segment &&
                      segment <= other->last_segment))
        other = other->next;
    if (op && other && other != op && !is_ordered(check, access->w, other) &&
        !check_is_known_pair(check, check_op_key(op), check_op_key(other))) {
        struct check_side side =
            check_side_of(access->w, access->in, lane, check_verb(access->in, is_write));
        describe(check, &subject, &where);
        check_op_name(op, &mine);
        check_op_name(other, &theirs);
        check_report_ops(check, &subject, &side, &op->callers, &other->callers, other->name,
                         kind_name(other), "race between %s: %s at 0x%llx%s in %s, which %s %s: %s",
                         op->graph && op->graph == other->graph ? "graph nodes"
                         : other == check->early                ? "kernels"
                                                                : "streams",
                         side.does, (unsigned long long)address, where.data, mine.data, theirs.data,
                         was_write ? "writes" : "reads",
                         other == check->early ? EARLY_REMEDY : remedy(op, other));
    }
    pthread_mutex_unlock(&check_ops_lock);
    lk_buf_free(&where);
    lk_buf_free(&mine);
    lk_buf_free(&theirs);
}

/* A new copy, memset or free against all that is not ordered with it. A graph's nodes are new when
 * the graph runs: what the stream does after it may be listed by then. */
static void judge_boxes(struct check *check, const struct check_op *op)
{
    for (const struct check_op *other = all.first; other && op->box_count; other = other->next) {
        if (other == op || check_op_is_before(other, op) || check_op_is_before(op, other))
            continue;
        for (unsigned i = 0; i < op->box_count; i++) {
            const struct simt_box *box = &op->boxes[i];
            uint64_t at;
            bool wrote;
            for (unsigned k = 0; k < other->box_count; k++)
                if ((box->is_write || other->boxes[k].is_write) &&
                    overlap(box, &other->boxes[k], &at))
                    report(check, op, box->is_write, other, other->boxes[k].is_write, at);
            if (other->kind == SIMT_OP_KERNEL && other->last_segment && other->check == check &&
                kernel_overlap(other, box, &at, &wrote))
                report(check, op, box->is_write, other, wrote, at);
        }
    }
}

/* Events ----------------------------------------------------------------------------------------*/

void *check_op_submitted(struct simt_watcher *watcher, const struct simt_op_info *info)
{
    struct check *check = (struct check *)watcher;
    struct check_op *op = lk_alloc_zeroed(sizeof(*op));
    op->references = 2; /* the list's and the driver's */
    op->kind = info->kind;
    op->check = check;
    op->name = info->name ? strdup(info->name) : NULL;
    op->box_count = info->box_count;
    memcpy(op->boxes, info->boxes, sizeof(op->boxes));
    if (!info->graph && info->kind != SIMT_OP_OTHER)
        op->callers = check_callers();
    pthread_mutex_lock(&check_ops_lock);
    if (info->graph)
        put_in_graph(op, info->graph, info);
    else
        put_in_stream(op, info);
    if (info->kind != SIMT_OP_OTHER && info->kind != SIMT_OP_GRAPH)
        op->number = ++all.numbers;
    op->is_listed = true;
    *(all.last ? &all.last->next : &all.first) = op;
    all.last = op;
    all.count++;
    judge_boxes(check, op);
    check_host_protect(op, info);
    if (all.count > OPS_MOST)
        prune();
    pthread_mutex_unlock(&check_ops_lock);
    return op;
}

void check_op_event(struct simt_watcher *watcher, void *handle, enum watch_op_event event)
{
    struct check_op *op = handle;
    (void)watcher;
    pthread_mutex_lock(&check_ops_lock);
    switch (event) {
    case WATCH_OP_BEGINS:
        current = op;
        break;
    case WATCH_OP_ENDS:
        current = NULL;
        break;
    case WATCH_OP_SYNCED:
        join_clock(all.host, all.stream_count, op);
        check_host_release();
        prune();
        break;
    case WATCH_OP_RETAIN:
        op->references++;
        break;
    case WATCH_OP_RELEASE:
        release(op);
        break;
    }
    pthread_mutex_unlock(&check_ops_lock);
}

/* A stream's work runs when its turn comes, in whichever thread is there. */
struct check_callers check_askers(void)
{
    const struct check_op *op = current && current->graph ? current->graph : current;
    return op && op->callers.at[0] ? op->callers : check_callers();
}

/* Launches --------------------------------------------------------------------------------------*/

/* Segments from check->history on may belong to launches that nothing orders before this one. */
void check_ops_launch_begins(struct check *check)
{
    check->op = current && current->kind == SIMT_OP_KERNEL ? current : NULL;
    check->history = UINT32_MAX;
    check->early = NULL;
    if (!check->op)
        return;
    pthread_mutex_lock(&check_ops_lock);
    check->op->first_segment = check->time + 1;
    for (const struct check_op *other = all.first; other; other = other->next)
        if (other->last_segment && other->check == check && other->first_segment < check->history &&
            !check_op_is_before(other, check->op))
            check->history = other->first_segment;
    check->op->lets_begin = lets_next_begin(check);
    check->early = before_early(check->op);
    if (check->early && check->early->first_segment < check->history)
        check->history = check->early->first_segment;
    pthread_mutex_unlock(&check_ops_lock);
}

/* Copies that were asked for before the launch had run. */
void check_ops_launch_ends(struct check *check)
{
    struct check_op *op = check->op;
    uint64_t at;
    bool wrote;
    if (!op)
        return;
    pthread_mutex_lock(&check_ops_lock);
    op->last_segment = check->time;
    check_host_judge(op);
    for (const struct check_op *other = all.first; other; other = other->next)
        for (unsigned i = 0; i < other->box_count && op->last_segment >= op->first_segment; i++)
            if (!check_op_is_before(op, other) && !check_op_is_before(other, op) &&
                kernel_overlap(op, &other->boxes[i], &at, &wrote))
                report(check, other, other->boxes[i].is_write, op, wrote, at);
    check->op = NULL;
    pthread_mutex_unlock(&check_ops_lock);
}
