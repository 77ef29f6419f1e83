/*
 * exec_bulk.c: bulk copies of tensors, and bulk reductions.
 * A copy is done when it is issued: a program that waits as it must cannot tell. tma.c says which
 * bytes; they move in pieces of 16, as swizzles leave them.
 */
#include "simt/bulk.h"
#include "simt/bulk_reduce.h"
#include "simt/exec.h"
#include "simt/tma.h"

/* Memory -----------------------------------------------------------------------------------------
 */

static uint8_t *global_bytes(struct simt_warp *w, const struct simt_inst *in, uint64_t address,
                             uint32_t size, int lane, bool is_write)
{
    struct simt_memory *memory = &w->block->launch->machine->memory;
    uint8_t *host = simt_memory_host(memory, address, size);
    if (!host)
        host = simt_memory_listed(memory, address, size, is_write);
    if (!host)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane,
                   "bulk %s of %u bytes at 0x%llx: no memory is allocated there",
                   is_write ? "write" : "read", size, (unsigned long long)address);
    return host;
}

/* The shared memory of a block of the cluster, by its rank; NULL after a fault. */
static uint8_t *shared_of(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                          uint64_t first, uint64_t bytes, int lane, bool is_write)
{
    struct simt_block *block = w->block;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    if (rank < count && (first + bytes > blocks[rank]->shared_bytes || first + bytes < first)) {
        /* Of tensors an H200 showed which error it is. */
        bool is_tensor = ptx_has(in->ptx, PTX_MOD_TENSOR);
        simt_raise(w, in, is_tensor ? SIMT_FAULT_ILLEGAL_ADDRESS : SIMT_FAULT_ILLEGAL_INSTRUCTION,
                   lane, "bulk copy of %llu bytes at 0x%llx: outside of the block's shared memory",
                   (unsigned long long)bytes, (unsigned long long)first);
        return NULL;
    }
    uint8_t *at = simt_cluster_shared(w, in, rank, (uint32_t)first, 1, lane, is_write);
    return at ? at - first : NULL;
}

/* The blocks that a counted copy goes to; 0 after a fault. */
static struct tma_targets targets_of(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct tma_targets targets = tma_targets(w, in, lane);
    bool multicast = ptx_has(in->ptx, PTX_MOD_MULTICAST_CLUSTER);
    if (!targets.ranks && multicast)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "a multicast to blocks 0x%x of a cluster of %u",
                   SIMT_SLOT(const uint16_t, in->e)[lane], w->block->launch->cluster_size);
    else if (!targets.ranks)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "a bulk copy and its mbarrier must be in the same block of the cluster");
    return targets;
}

/* Loads
 * ------------------------------------------------------------------------------------------- */

/* tf32 as a load leaves it: rounded to nearest even, and one NaN for all. */
static uint32_t round_tf32(uint32_t bits)
{
    if ((bits & 0x7f800000) == 0x7f800000)
        return bits & 0x7fffff ? 0x7fffe000 : bits;
    return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

static void round_words(uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i + 4 <= count; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        word = round_tf32(word);
        memcpy(bytes + i, &word, 4);
    }
}

/* 16 bytes of which [first, end) come from the tensor. */
static void load_piece(const struct tma_copy *copy, uint8_t *target, const uint8_t *source,
                       uint32_t first, uint32_t end)
{
    static const uint8_t nan[16] = {0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f,
                                    0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f};
    if (copy->map.fills_nan)
        memcpy(target, nan, 16);
    else
        memset(target, 0, 16);
    if (end > first)
        memcpy(target + first, source, end - first);
}

/* source: the row's bytes from row->first on. */
static void load_row(const struct tma_copy *copy, const struct tma_row *row, const uint8_t *source,
                     uint8_t *shared)
{
    bool rounds = copy->map.type == TENSORMAP_TF32 || copy->map.type == TENSORMAP_TF32_FTZ;
    for (uint32_t at = 0; at < copy->row_bytes; at += 16) {
        uint8_t *target = shared + tma_swizzle(copy, row->shared + at);
        uint32_t first = row->first > at ? row->first - at : 0;
        uint32_t end = row->end > at ? row->end - at : 0;
        if (!first && end >= 16) {
            memcpy(target, source + at - row->first, 16);
            if (rounds)
                round_words(target, 16);
            continue;
        }
        end = end < 16 ? end : 16;
        load_piece(copy, target, end > first ? source + at + first - row->first : NULL, first, end);
        if (rounds && end > first)
            round_words(target + first, end - first);
    }
}

static bool load_box(struct simt_warp *w, const struct simt_inst *in, const struct tma_copy *copy,
                     uint8_t *shared, int lane)
{
    struct tma_walk walk;
    struct tma_row row;
    tma_walk_begin(copy, &walk);
    while (tma_walk_next(copy, &walk, &row)) {
        const uint8_t *source = NULL;
        if (row.end > row.first) {
            source = global_bytes(w, in, row.address + row.first, row.end - row.first, lane, false);
            if (!source)
                return false;
        }
        load_row(copy, &row, source, shared);
    }
    return true;
}

SIMT_BODY(run_tma_load)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct tma_copy copy;
        if (!tma_begin(w, in, lane, &copy))
            return NULL;
        struct tma_targets targets = targets_of(w, in, lane);
        if (!targets.ranks)
            return NULL;
        for (uint32_t ranks = targets.ranks; ranks; ranks &= ranks - 1) {
            uint32_t rank = (uint32_t)__builtin_ctz(ranks);
            uint8_t *shared = shared_of(w, in, rank, copy.shared,
                                        (uint64_t)copy.row_count * copy.pitch, lane, true);
            if (!shared || !load_box(w, in, &copy, shared, lane) ||
                !simt_cluster_complete(w, in, rank, targets.mbarrier, copy.bytes, lane))
                return NULL;
        }
    }
    return in + 1;
}

/* Stores ------------------------------------------------------------------------------------------
 */

/* reduction: NULL for a plain store. */
static bool store_box(struct simt_warp *w, const struct simt_inst *in, const struct tma_copy *copy,
                      const struct reduction *reduction, const uint8_t *shared, int lane)
{
    struct tma_walk walk;
    struct tma_row row;
    tma_walk_begin(copy, &walk);
    while (tma_walk_next(copy, &walk, &row)) {
        if (row.end == row.first)
            continue;
        uint8_t *target = global_bytes(w, in, row.address, row.end, lane, true);
        if (!target)
            return false;
        for (uint32_t at = 0; at < row.end; at += 16) {
            const uint8_t *source = shared + tma_swizzle(copy, row.shared + at);
            if (reduction)
                reduce_bytes(reduction, target + at, source, 16);
            else
                memcpy(target + at, source, 16);
        }
    }
    return true;
}

SIMT_BODY(run_tma_store)
{
    bool reduces = in->ptx->op == PTX_OP_TMA_REDUCE;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct tma_copy copy;
        struct reduction reduction = {0};
        if (!tma_begin(w, in, lane, &copy))
            return NULL;
        if (reduces) {
            reduction = tensor_reduction(in->ptx, copy.map.type);
            if (!reduction.function)
                return simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                                  "%s: there is no such reduction for the tensor's type",
                                  in->ptx->text);
        }
        const uint8_t *shared = shared_of(w, in, simt_block_rank(w->block), copy.shared,
                                          (uint64_t)copy.row_count * copy.pitch, lane, false);
        if (!shared || !store_box(w, in, &copy, reduces ? &reduction : NULL, shared, lane))
            return NULL;
    }
    return in + 1;
}

SIMT_BODY(run_tma_prefetch)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        struct tma_copy copy;
        if (!tma_begin(w, in, __builtin_ctz(rest), &copy))
            return NULL;
    }
    return in + 1;
}

/* Where a bulk reduction goes to; NULL after a fault. */
static uint8_t *reduce_target(struct simt_warp *w, const struct simt_inst *in, uint64_t from,
                              uint32_t size, int lane, struct tma_targets *targets)
{
    bool to_shared = in->ptx->op == PTX_OP_BULK_RED_S;
    uint64_t to;
    if (to_shared) {
        *targets = targets_of(w, in, lane);
        if (!targets->ranks)
            return NULL;
        to = targets->shared;
    } else {
        to = tma_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) + (uint64_t)in->imm;
    }
    if (size % 16 || from % 16 || to % 16) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "a bulk reduction of %u bytes from 0x%llx to 0x%llx: size and addresses must be "
                   "multiples of 16",
                   size, (unsigned long long)from, (unsigned long long)to);
        return NULL;
    }
    if (!to_shared)
        return size ? global_bytes(w, in, to, size, lane, true) : w->block->shared;
    uint8_t *shared =
        shared_of(w, in, (uint32_t)__builtin_ctz(targets->ranks), to, size, lane, true);
    return shared ? shared + to : NULL;
}

/* cp.reduce.async.bulk [to], [from], size {, [mbarrier]}: without a tensor. */
SIMT_BODY(run_bulk_reduce)
{
    struct reduction reduction = find_reduction(in->ptx, in->ptx->types[0]);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t size = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint64_t from = tma_shared_address(w, in->b, in->counts[0] == 32, lane);
        struct tma_targets targets = {0};
        uint8_t *target = reduce_target(w, in, from, size, lane, &targets);
        const uint8_t *source =
            target ? shared_of(w, in, simt_block_rank(w->block), from, size, lane, false) : NULL;
        if (!source)
            return NULL;
        reduce_bytes(&reduction, target, source + from, size);
        if (targets.ranks && !simt_cluster_complete(w, in, (uint32_t)__builtin_ctz(targets.ranks),
                                                    targets.mbarrier, size, lane))
            return NULL;
    }
    return in + 1;
}

/* Fences and hints: memory is one, and every copy sees it as it is. */
SIMT_BODY(run_nothing)
{
    (void)w;
    return in + 1;
}

simt_body *SIMT_NAME(bulk_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
        return run_tma_load;
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
        return run_tma_store;
    case PTX_OP_TMA_PREFETCH:
    case PTX_OP_TMA_PREFETCH_IM2COL:
        return run_tma_prefetch;
    case PTX_OP_BULK_RED_G:
    case PTX_OP_BULK_RED_S:
        return run_bulk_reduce;
    case PTX_OP_FENCE_MAP_RELEASE:
    case PTX_OP_FENCE_MAP_ACQUIRE:
    case PTX_OP_PREFETCH_MAP:
        return run_nothing;
    default:
        return SIMT_NAME(bulk_map_select)(operands->ptx->op);
    }
}
