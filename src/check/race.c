/*
 * race.c: who touched each word last, and whether that was ordered before what comes now.
 * This is the checker's hot path: a cell is 32 bytes and most visits look at one word of it.
 */
#include "check/ops.h"
#include "check/products.h"
#include "check/written.h"
#include "simt/tma.h"

#define HOT_INLINE static inline __attribute__((always_inline))

struct visit {
    struct check *check;
    const struct watch_access *access;
    struct check_block *block;
    uint32_t warp; /* in the block */
    uint32_t segment;
    uint32_t info;  /* of lane 0 */
    uint32_t first; /* older segments are history (C2) */
    uint32_t grid_warp;
    bool is_volatile;          /* of shared memory */
    bool is_narrow;            /* strong for its block only */
    bool is_constant;          /* ld.global.nc: of what must not change during the launch */
    uint32_t passed_on;        /* nobody of another block can know what came after that */
    uint32_t history;          /* from here to first: of launches that may be unordered (ops.c) */
    uint32_t unwritten;        /* lanes that read what nothing has written, */
    uint32_t element;          /* bytes of each element of a vector, or of all that is read, */
    uint8_t parts[SIMT_LANES]; /* and of such a lane the elements, as bits */
    bool is_bulk;              /* an engine does it, not the thread, */
    bool is_product;           /* or the tensor cores do */
};

/* Reports ---------------------------------------------------------------------------------------*/

const char *check_verb(const struct simt_inst *in, bool is_write)
{
    return ptx_op_infos[in->ptx->op].group == PTX_GROUP_ATOMIC ? "atomic"
           : is_write                                          ? "write"
                                                               : "read";
}

/* Reading global memory plainly while others lower or raise it, or swap it in, is how relaxations
 * and hash tables work: an old value does no harm. Sums that are not complete do. */
static bool is_tolerated(const struct simt_inst *a, const struct simt_inst *b)
{
    const struct ptx_inst *read = a->ptx->op == PTX_OP_LD ? a->ptx : b->ptx;
    const struct ptx_inst *atomic = read == a->ptx ? b->ptx : a->ptx;
    if (read->op != PTX_OP_LD || ptx_op_infos[atomic->op].group != PTX_GROUP_ATOMIC)
        return false;
    return atomic->op == PTX_OP_ATOM_CAS ||
           (check_is_idempotent(atomic) && !ptx_has(atomic, PTX_MOD_EXCH));
}

/* A plain read before an atomic of the same word, against that atomic of another thread. */
static bool is_precheck(const struct check *check, const struct simt_inst *a,
                        const struct simt_inst *b)
{
    const struct simt_inst *read = a->ptx->op == PTX_OP_LD ? a : b;
    return read->ptx->op == PTX_OP_LD && check_is_idempotent((read == a ? b : a)->ptx) &&
           check->traits[read - check->launch->code->insts] & CHECK_TRAIT_PRECHECK;
}

static void report_precheck(struct visit *visit, uint64_t address, const struct check_side *side,
                            const struct check_side *other)
{
    struct check_subject subject = {.space = visit->access->space, .address = address};
    struct lk_buf where = {0};
    lk_buf_add(&where, "", 0);
    check_describe_address(visit->check, &subject, &where);
    check_report(visit->check, CHECK_PRECHECK, &subject, side, other,
                 "benign race: 0x%llx%s%s%s is read plainly before an atomic decides, while other "
                 "threads change it with atomics; an old value does no harm",
                 (unsigned long long)address, where.size ? " (" : "", where.data,
                 where.size ? ")" : "");
    lk_buf_free(&where);
}

static __attribute__((noinline)) void report_race(struct visit *visit, uint64_t address, int lane,
                                                  bool is_write, uint32_t segment, uint32_t info,
                                                  bool was_write)
{
    struct check *check = visit->check;
    const struct watch_access *access = visit->access;
    const struct simt_inst *there = &check->launch->code->insts[info >> CHECK_INST_SHIFT];
    if (!is_write)
        check->traits[access->number] |= CHECK_TRAIT_RACED;
    if (!was_write)
        check->traits[info >> CHECK_INST_SHIFT] |= CHECK_TRAIT_RACED;
    /* CUB lets lanes write what they do not need to one place that nobody reads. */
    if (is_write && was_write && access->space == PTX_SPACE_SHARED &&
        check->traits[access->number] & check->traits[info >> CHECK_INST_SHIFT] &
            CHECK_TRAIT_LIBRARY)
        return;
    bool precheck = is_precheck(check, access->in, there);
    bool known = check_is_known(check, precheck ? CHECK_PRECHECK : CHECK_RACE, access->in, there);
    if (!known && !precheck && access->space != PTX_SPACE_SHARED && is_tolerated(access->in, there))
        return;
    struct check_side side =
        check_side_of(access->w, access->in, lane, check_verb(access->in, is_write));
    if (info & CHECK_MANY && (info & CHECK_LANE) == (uint32_t)lane) /* name one that is not this */
        info = (info & ~CHECK_LANE) | (info >> CHECK_SECOND_SHIFT & CHECK_LANE);
    struct check_side other =
        check_side_of_segment(check, segment, info, check_verb(there, was_write));
    if (known && !precheck)
        check_widen(check, &side, &other);
    else if (!known && precheck)
        report_precheck(visit, address, &side, &other);
    if (known || precheck)
        return;
    struct lk_buf where = {0};
    lk_buf_add(&where, "", 0);
    struct check_subject subject = {.space = access->space, .address = address};
    check_describe_address(check, &subject, &where);
    enum check_scope apart = check_scope(&side, &other);
    const char *scope =
        apart == CHECK_IN_GRID
            ? (access->space == PTX_SPACE_SHARED ? "between blocks of a cluster" : "between blocks")
        : apart == CHECK_IN_BLOCK ? "between warps of a block"
                                  : "between threads of a warp";
    bool is_engine = check->segment_engines[segment - check->segment_base];
    bool copying = (was_write && info & CHECK_ASYNC) || is_engine;
    bool narrow = info & visit->info & CHECK_STRONG && other.block != side.block;
    const char *advice =
        narrow
            ? ": the scope of one of them is its own block (.cta, as of atomicAdd_block); between "
              "blocks both need device scope"
        : copying && !was_write && tma_is_counted(other.in->ptx->op)
            ? ": nothing waited until the copy had read it (its mbarrier's phase ends then: "
              "whoever "
              "waits for that must tell this thread)"
        : copying && !was_write
            ? ": nothing waited until the copy had read it (cp.async.bulk.wait_group.read)"
        : is_engine && access->space != PTX_SPACE_SHARED
            ? ": nothing waited until the copy had written it (cp.async.bulk.wait_group; with "
              ".read it waits for the source alone), or no barrier came after that wait"
        : copying ? ": nothing waited for the asynchronous copy, or no barrier came after that wait"
        : other.block != side.block && access->space == PTX_SPACE_SHARED
            ? ": nothing orders the two blocks (cluster.sync(), or an mbarrier)"
        : other.block != side.block
            ? (was_write && !is_write ? ": it reads what another block writes in the same launch"
                                      : ": nothing orders the two blocks")
        : apart == CHECK_IN_BLOCK ? ": no barrier or other synchronisation between them"
                                  : ": no __syncwarp() or other synchronisation between them";
    check_report(check, CHECK_RACE, &subject, &side, &other,
                 "race %s: %s at 0x%llx%s%s%s, after %s by %s%s", scope, side.does,
                 (unsigned long long)address, where.size ? " (" : "", where.data,
                 where.size ? ")" : "",
                 is_engine && was_write              ? "a bulk copy's write"
                 : is_engine                         ? "a bulk copy's read"
                 : copying                           ? "a cp.async"
                 : strcmp(other.does, "atomic") == 0 ? "an atomic"
                 : was_write                         ? "a write"
                                                     : "a read",
                 other.block == side.block && other.thread == side.thread ? "the same thread"
                                                                          : "another thread",
                 advice);
    lk_buf_free(&where);
}

/* Ordered or not: the cache that serves ld.global.nc does not see the launch's own writes. */
static __attribute__((noinline)) void report_stale(struct visit *visit, uint64_t address, int lane,
                                                   uint32_t segment, uint32_t info)
{
    struct check *check = visit->check;
    const struct watch_access *access = visit->access;
    struct check_side side = check_side_of(access->w, access->in, lane, "read");
    struct check_side other = check_side_of_segment(check, segment, info, "write");
    if (check_is_known(check, CHECK_STALE_READ, access->in, other.in))
        return;
    struct lk_buf where = {0};
    lk_buf_add(&where, "", 0);
    struct check_subject subject = {.space = access->space, .address = address};
    check_describe_address(check, &subject, &where);
    check_report(
        check, CHECK_STALE_READ, &subject, &side, &other,
        "stale read: ld.global.nc (__ldg, or const __restrict__) at 0x%llx%s%s%s reads what "
        "the same launch has written; its cache may still hold the old value: read it "
        "plainly, without __ldg and __restrict__",
        (unsigned long long)address, where.size ? " (" : "", where.data, where.size ? ")" : "");
    lk_buf_free(&where);
}

static const uint8_t *stored_value(const struct watch_access *access, int lane, unsigned element,
                                   unsigned *bytes)
{
    const struct simt_inst *in = access->in;
    *bytes = in->flags >> SIMT_FLAG_BYTES_SHIFT;
    uint32_t slot = in->counts[0] ? in->list[element] : in->b;
    return access->w->regs + slot + (unsigned)lane * *bytes;
}

/* Writing the value that is already there is harmless: flags are often set that way. */
static bool writes_same(const struct visit *visit, int lane)
{
    const struct watch_access *access = visit->access;
    if (access->what->kind != WATCH_STORE)
        return false;
    const uint8_t *there =
        access->space == PTX_SPACE_SHARED
            ? access->block->shared + access->addresses[lane]
            : (const uint8_t *)(uintptr_t)(access->addresses[lane] + SIMT_BACKING);
    unsigned count = access->in->counts[0] ? access->in->counts[0] : 1;
    uint32_t size = access->bytes / count;
    for (unsigned i = 0; i < count; i++) {
        unsigned bytes;
        const uint8_t *mine = stored_value(access, lane, i, &bytes);
        if (bytes < size || memcmp(mine, there + i * size, size) != 0)
            return false;
    }
    return true;
}

/* Two lanes write the same bytes with one instruction: harmless if they write the same. */
static __attribute__((noinline)) void same_instruction(struct visit *visit, uint64_t address,
                                                       int lane, uint32_t segment, uint32_t info)
{
    const struct watch_access *access = visit->access;
    if (access->what->kind != WATCH_STORE)
        return;
    unsigned count = access->in->counts[0] ? access->in->counts[0] : 1;
    int other = (int)(info & CHECK_LANE);
    if (access->addresses[lane] != access->addresses[other])
        return;
    for (unsigned i = 0; i < count; i++) {
        unsigned bytes;
        const uint8_t *mine = stored_value(access, lane, i, &bytes);
        const uint8_t *theirs = stored_value(access, other, i, &bytes);
        unsigned stored = access->bytes / count < bytes ? access->bytes / count : bytes;
        if (memcmp(mine, theirs, stored) != 0) {
            report_race(visit, address, lane, true, segment, info, true);
            return;
        }
    }
}

/* Cells -----------------------------------------------------------------------------------------*/

/* Volatile accesses of shared memory within a warp: a reduction from before sm_70, which counted on
 * lanes that run in step. Between warps they are flags. */
static __attribute__((noinline)) bool by_own_warp(const struct visit *visit, uint32_t segment,
                                                  uint32_t info)
{
    const struct check *check = visit->check;
    return check->segment_warps[segment - check->segment_base] == visit->grid_warp &&
           check->traits[info >> CHECK_INST_SHIFT] & CHECK_TRAIT_VOLATILE;
}

/* Of two strong accesses, one is strong for its own block only, and the other is in another. */
static __attribute__((noinline)) bool is_out_of_scope(const struct visit *visit, uint32_t segment,
                                                      uint32_t info)
{
    const struct check *check = visit->check;
    uint32_t theirs = check->segment_warps[segment - check->segment_base];
    return theirs - visit->block->first_warp >= visit->block->warp_count &&
           (visit->is_narrow || check->traits[info >> CHECK_INST_SHIFT] & CHECK_TRAIT_NARROW);
}

static inline bool conflicts(const struct visit *visit, uint32_t lane, uint32_t segment,
                             uint32_t info)
{
    if (segment < visit->first)
        return false;
    if (info & visit->info & CHECK_STRONG &&
        !(visit->is_volatile && by_own_warp(visit, segment, info)) &&
        !(visit->check->has_narrow && is_out_of_scope(visit, segment, info)))
        return false;
    if (segment == visit->segment && (info & (CHECK_LANE | CHECK_MANY | CHECK_ASYNC)) == lane)
        return false;
    return !check_order_is_before(visit->check, visit->block, visit->warp, lane, segment, info);
}

/* Another launch has touched the word: that is history if it is ordered before this one. */
static __attribute__((noinline)) void other_launch(struct visit *visit, uint64_t address,
                                                   uint32_t lane, uint32_t bytes,
                                                   const struct check_cell *cell, bool is_write)
{
    struct check *check = visit->check;
    uint32_t mine = visit->info & CHECK_STRONG, first = visit->first, history = visit->history;
    if (cell->write_segment >= history && cell->write_segment < first &&
        cell->write_bytes & bytes && !(cell->write_info & mine) &&
        !(is_write && writes_same(visit, (int)lane)))
        check_ops_conflict(check, visit->access, (int)lane, address, is_write, cell->write_segment,
                           true);
    for (int i = 0; is_write && i < 2; i++)
        if (cell->read_segment[i] >= history && cell->read_segment[i] < first &&
            cell->read_bytes[i] & bytes && !(cell->read_info[i] & mine))
            check_ops_conflict(check, visit->access, (int)lane, address, is_write,
                               cell->read_segment[i], false);
}

HOT_INLINE void visit_read(struct visit *visit, struct check_cell *cell, uint64_t address,
                           uint32_t lane, uint32_t bytes, uint32_t many)
{
    if (__builtin_expect(cell->write_segment >= visit->first, 0) && cell->write_bytes & bytes) {
        if (conflicts(visit, lane, cell->write_segment, cell->write_info))
            report_race(visit, address, (int)lane, false, cell->write_segment, cell->write_info,
                        true);
        else if (visit->is_constant)
            report_stale(visit, address, (int)lane, cell->write_segment, cell->write_info);
        else {
            if (visit->is_bulk || visit->is_product)
                check_bulk_fence(visit->check, visit->access, address, (int)lane,
                                 cell->write_segment, cell->write_info);
            if (__builtin_expect(visit->check->owners, 0))
                check_owner_read(visit->check, visit->access, address, lane, cell);
        }
    } else if (__builtin_expect(cell->write_segment >= visit->history, 0)) {
        other_launch(visit, address, lane, bytes, cell, false);
    }
    /* Two blocks have read it, and no thread can know of both: the writer gets a report about one
     * of them, so this reader need not be remembered. */
    if (cell->apart && cell->read_segment[0] > visit->passed_on &&
        cell->read_segment[1] > visit->passed_on &&
        (cell->read_bytes[0] & cell->read_bytes[1]) == 15)
        return;
    uint32_t info = visit->info | lane | many;
    if (cell->read_segment[0] == visit->segment) {
        uint32_t before = cell->read_info[0];
        if (before & CHECK_MIXED ||
            ((before & CHECK_LANE) != lane && !(cell->read_bytes[0] & bytes)))
            info |= CHECK_MIXED; /* bytes of one word, by several lanes */
        else if (!many && (before & CHECK_LANE) != lane)
            info |= CHECK_MANY | (before & CHECK_LANE) << CHECK_SECOND_SHIFT;
        else if (!many && before & CHECK_MANY)
            info |= before & (CHECK_MANY | CHECK_LANE << CHECK_SECOND_SHIFT);
        cell->read_info[0] = info;
        cell->read_bytes[0] |= (uint8_t)bytes;
        return;
    }
    const struct check *check = visit->check;
    uint32_t theirs = cell->read_segment[0] >= visit->first
                          ? check->segment_warps[cell->read_segment[0] - check->segment_base]
                          : visit->grid_warp;
    bool is_other =
        theirs != visit->grid_warp &&
        !(visit->is_product &&
          check_products_same_group(check, visit->block, theirs, visit->warp, cell->read_info[0]));
    if (is_other) {
        cell->apart = theirs - visit->block->first_warp >= visit->block->warp_count;
        cell->read_segment[1] = cell->read_segment[0];
        cell->read_info[1] = cell->read_info[0];
        cell->read_bytes[1] = cell->read_bytes[0];
    }
    cell->read_segment[0] = visit->segment;
    cell->read_info[0] = info;
    cell->read_bytes[0] = (uint8_t)bytes;
}

HOT_INLINE void visit_write(struct visit *visit, struct check_cell *cell, uint64_t address,
                            uint32_t lane, uint32_t bytes)
{
    struct check *check = visit->check;
    uint32_t info = visit->info | lane;
    bool same_word =
        cell->write_segment == visit->segment && (cell->write_info & CHECK_LANE) != lane;
    if (cell->write_segment >= visit->first && cell->write_bytes & bytes) {
        if (cell->write_serial == check->serial && cell->write_segment == visit->segment) {
            if ((cell->write_info & CHECK_LANE) != lane && !(info & CHECK_STRONG))
                same_instruction(visit, address, (int)lane, cell->write_segment, cell->write_info);
        } else if (conflicts(visit, lane, cell->write_segment, cell->write_info) &&
                   !writes_same(visit, (int)lane)) {
            report_race(visit, address, (int)lane, true, cell->write_segment, cell->write_info,
                        true);
        }
        if (__builtin_expect(check->owners, 0) && !visit->is_bulk)
            check_owner_write(check, visit->access, address, lane, cell);
    }
    if (__builtin_expect(visit->history < visit->first, 0))
        other_launch(visit, address, lane, bytes, cell, true);
    for (int i = 0; i < 2; i++)
        if (cell->read_segment[i] >= visit->first && cell->read_bytes[i] & bytes &&
            conflicts(visit, lane, cell->read_segment[i], cell->read_info[i])) {
            report_race(visit, address, (int)lane, true, cell->read_segment[i], cell->read_info[i],
                        false);
            break;
        }
    /* A thread's plain write stays what others must be ordered after when an atomic follows it. */
    bool keeps = info & CHECK_STRONG && cell->write_segment == visit->segment &&
                 (cell->write_info & (CHECK_STRONG | CHECK_LANE)) == lane;
    if (keeps)
        return;
    if (same_word && !(cell->write_bytes & bytes)) { /* bytes of one word, by several lanes */
        cell->write_bytes |= (uint8_t)bytes;
        cell->write_info = (info & ~CHECK_LANE) | (cell->write_info & CHECK_LANE) | CHECK_MIXED;
    } else {
        cell->write_bytes = (uint8_t)bytes;
        cell->write_info = info;
    }
    cell->write_segment = visit->segment;
    cell->write_serial = check->serial;
    cell->read_segment[0] = cell->read_segment[1] = 0;
    cell->apart = 0;
}

/* Uninitialised ---------------------------------------------------------------------------------*/

void check_race_unwrite(struct check_block *block, uint32_t first, uint32_t bytes)
{
    for (uint32_t i = first; i < first + bytes && i < block->shared_bytes; i++)
        block->written[i >> 3] &= (uint8_t) ~(1u << (i & 7));
}

/* One lane of any size. */
static void visit_lane(struct visit *visit, struct check_cell *cells, uint8_t *written,
                       uint64_t address, uint32_t first, uint32_t lane, uint32_t bytes, bool tracks,
                       uint32_t many)
{
    const struct watch_access *access = visit->access;
    if (tracks && access->is_read &&
        (visit->parts[lane] = written_not(written, first, bytes, visit->element)))
        visit->unwritten |= 1u << lane;
    if (written && access->is_write)
        written_set(written, first, bytes);
    for (uint32_t at = first, end = first + bytes; at < end;) {
        uint32_t next = (at & ~3u) + 4 < end ? (at & ~3u) + 4 : end;
        uint32_t mask = ((1u << (next - at)) - 1) << (at & 3);
        if (access->is_write)
            visit_write(visit, &cells[at >> 2], address + (at - first), lane, mask);
        else
            visit_read(visit, &cells[at >> 2], address + (at - first), lane, mask, many);
        at = next;
    }
}

/* Accesses --------------------------------------------------------------------------------------*/

/* Lanes that read what an earlier lane reads are skipped, in the common cases: runs of
 * lanes, or two halves alike. */
HOT_INLINE uint32_t without_copies(const struct watch_access *access, uint32_t mask, bool *halves)
{
    const uint64_t *a = access->addresses;
    uint32_t keep = 1;
    *halves = false;
    if (access->is_write || mask != SIMT_ALL)
        return mask;
    if (a[16] == a[0])
        *halves = memcmp(a, a + 16, 16 * sizeof(*a)) == 0;
    if (a[1] != a[0])
        return *halves ? 0xffff : SIMT_ALL;
    uint64_t other = 0;
    for (int i = 0; i < 16; i++)
        other |= (a[i] ^ a[0]) | (a[i + 16] ^ a[16]);
    if (!other)
        return *halves ? 1 : 1u | 1u << 16;
    for (int i = 1; i < SIMT_LANES; i++)
        keep |= (uint32_t)(a[i] != a[i - 1]) << i;
    return *halves ? keep & 0xffff : keep;
}

/* Another lane that reads the same, as bits of an info. */
HOT_INLINE uint32_t many_of(uint32_t kept, bool halves, uint32_t mask, uint32_t lane, bool is_write)
{
    if (halves)
        return CHECK_MANY | (lane + 16) << CHECK_SECOND_SHIFT;
    if (!is_write && mask == SIMT_ALL && lane < 31 && !(kept >> (lane + 1) & 1))
        return CHECK_MANY | (lane + 1) << CHECK_SECOND_SHIFT;
    return 0;
}

/* One aligned word for each lane, all in one stretch of cells: the most common case, made short. */
HOT_INLINE bool visit_words(struct visit *visit, uint32_t mask, bool tracks,
                            struct check_cell *cells, uint8_t *written, uint64_t start,
                            uint64_t size)
{
    const struct watch_access *access = visit->access;
    bool halves;
    if (access->bytes != 4)
        return false;
    uint32_t kept = without_copies(access, mask, &halves);
    for (uint32_t rest = kept; rest; rest &= rest - 1)
        if (access->addresses[__builtin_ctz(rest)] - start >= size)
            return false;
    for (uint32_t rest = kept; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t address = access->addresses[lane];
        uint32_t at = (uint32_t)(address - start);
        uint8_t *bits = &written[at >> 3], mine = (uint8_t)(15u << (at & 4));
        if (tracks && access->is_read && !(*bits & mine)) {
            visit->unwritten |= 1u << lane;
            visit->parts[lane] = 1;
        }
        if (access->is_write) {
            *bits |= mine;
            visit_write(visit, &cells[at >> 2], address, lane, 15);
        } else {
            visit_read(visit, &cells[at >> 2], address, lane, 15,
                       many_of(kept, halves, mask, lane, false));
        }
    }
    return true;
}

static CHECK_HOT void visit_shared(struct visit *visit, uint32_t mask)
{
    const struct watch_access *access = visit->access;
    visit->check->touched = access->block;
    struct check_block *block = access->block->check; /* whose memory it is */
    visit->first = block->first_segment > visit->first ? block->first_segment : visit->first;
    bool tracks = access->what->kind != WATCH_TILE && access->what->kind != WATCH_MATRIX &&
                  !visit->is_product;
    if (visit_words(visit, mask, tracks, block->cells, block->written, 0, block->shared_bytes))
        return;
    bool halves;
    uint32_t kept = without_copies(access, mask, &halves);
    for (uint32_t rest = kept; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint32_t address = (uint32_t)access->addresses[lane];
        visit_lane(visit, block->cells, block->written, address, address, lane, access->bytes,
                   tracks, many_of(kept, halves, mask, lane, access->is_write));
    }
}

static CHECK_HOT void visit_global(struct visit *visit, uint32_t mask, bool tracks)
{
    const struct watch_access *access = visit->access;
    struct check *check = visit->check;
    uint64_t base = check->machine->memory.base, at = UINT64_MAX;
    struct check_chunk *chunk = NULL;
    uint64_t first = access->addresses[__builtin_ctz(mask)] - base;
    if (first < SIMT_ARENA) {
        at = first >> CHECK_CHUNK_BITS;
        chunk = check_chunk_at(check, first);
        if (visit_words(visit, mask, tracks, chunk->cells, chunk->written,
                        base + (at << CHECK_CHUNK_BITS), CHECK_CHUNK))
            return;
    }
    bool halves;
    uint32_t kept = without_copies(access, mask, &halves);
    for (uint32_t rest = kept; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), bytes = access->bytes;
        uint32_t many = many_of(kept, halves, mask, lane, access->is_write);
        uint64_t offset = access->addresses[lane] - base;
        if (offset >= SIMT_ARENA) /* registered host memory has no shadow */
            continue;
        while (bytes) {
            uint32_t within = (uint32_t)(offset & (CHECK_CHUNK - 1));
            uint32_t part = CHECK_CHUNK - within < bytes ? CHECK_CHUNK - within : bytes;
            if (!chunk || offset >> CHECK_CHUNK_BITS != at) {
                at = offset >> CHECK_CHUNK_BITS;
                chunk = check_chunk_at(check, offset);
            }
            visit_lane(visit, chunk->cells, chunk->written, base + offset, within, lane, part,
                       tracks, many);
            offset += part;
            bytes -= part;
        }
    }
}

void check_race_access(struct check *check, const struct watch_access *access, uint32_t mask,
                       bool tracks)
{
    struct simt_warp *w = access->w;
    struct check_block *block = w->block->check;
    struct check_warp *warp = &block->warps[w->index];
    if (!warp->segment)
        check_order_open_segment(check, block, w->index);
    uint8_t traits = check->traits[access->number];
    bool is_strong = (access->what->is_ordered && !(traits & CHECK_TRAIT_PLAIN)) ||
                     traits & CHECK_TRAIT_FEEDS_CAS;
    bool is_bulk = access->what->kind == WATCH_BULK && check_bulk_is(access->in->ptx);
    bool reduces = is_bulk && access->is_read && access->is_write;
    struct visit visit = {
        .check = check,
        .access = access,
        .block = block,
        .warp = w->index,
        .is_bulk = is_bulk,
        .is_product = ptx_is_wgmma(access->in->ptx->op),
        .segment = is_bulk ? check_bulk_segment(check, access) : warp->segment,
        .info = access->number << CHECK_INST_SHIFT | (is_strong || reduces ? CHECK_STRONG : 0) |
                (access->what->kind == WATCH_COPY ? CHECK_ASYNC : 0),
        .first = check->first_segment,
        .grid_warp = block->first_warp + w->index,
        .passed_on = check->passed_on,
        .history = access->space == PTX_SPACE_SHARED ? UINT32_MAX : check->history,
        .element = check_unwritten_element(access),
        .is_narrow = traits & CHECK_TRAIT_NARROW,
        .is_constant = access->in->ptx->op == PTX_OP_LD_NC || access->in->ptx->op == PTX_OP_LDU,
        .is_volatile = access->space == PTX_SPACE_SHARED && traits & CHECK_TRAIT_VOLATILE};
    warp->last_access = access->number;
    check->serial++;
    if (access->space == PTX_SPACE_SHARED)
        visit_shared(&visit, mask);
    else
        visit_global(&visit, mask, tracks);
    if (visit.unwritten)
        check_unwritten(check, access, visit.unwritten, mask, visit.parts);
}
