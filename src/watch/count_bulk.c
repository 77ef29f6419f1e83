/*
 * count_bulk.c: the counters of the unit that copies in bulk, and of the tensor memory accelerator
 * in it: its instructions, and the bytes that a load brings into the shared memory of each block
 * that it goes to. As ncu has it, what lies outside of a tensor is brought like the rest: a row
 * that crosses an edge has sectors of both sides.
 */
#include "watch/count.h"

#include "simt/tma.h"

static uint64_t sectors_of(uint64_t address, uint64_t bytes)
{
    return bytes ? ((address + bytes - 1) >> CACHE_SECTOR_BITS) - (address >> CACHE_SECTOR_BITS) + 1
                 : 0;
}

static uint64_t sectors_of_box(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct tma_copy copy;
    struct tma_walk walk;
    struct tma_row row;
    uint64_t sectors = 0;
    if (!tma_begin(w, in, lane, &copy)) /* its body raises the fault again */
        return 0;
    tma_walk_begin(&copy, &walk);
    while (tma_walk_next(&copy, &walk, &row))
        sectors += sectors_of(row.address, row.first) +
                   sectors_of(row.address + row.first, row.end - row.first) +
                   sectors_of(row.address + row.end, copy.row_bytes - row.end);
    return sectors;
}

static void count_load(struct counters *counters, struct simt_warp *w, const struct simt_inst *in,
                       int lane, uint64_t sectors)
{
    uint32_t ranks = tma_targets(w, in, lane).ranks;
    sectors *= (unsigned)__builtin_popcount(ranks);
    if (ptx_has(in->ptx, PTX_MOD_MULTICAST_CLUSTER))
        counters->bulk.multicast += sectors;
    else
        counters->bulk.self += sectors;
}

void count_bulk(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                int lane)
{
    struct counters *counters = (struct counters *)watcher;
    if (!counters->insts)
        return;
    if (counters->units && w->block->units)
        units_bulk(counters->units, w, in, lane);
    switch (in->ptx->op) {
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
        count_load(counters, w, in, lane, sectors_of_box(w, in, lane));
        break;
    case PTX_OP_CP_BULK_G2S:
        count_load(counters, w, in, lane,
                   sectors_of(tma_address(w, in->b, in->counts[0] == 32, lane),
                              SIMT_SLOT(const uint32_t, in->c)[lane]));
        break;
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_BULK_RED_S:
        counters->bulk.cluster +=
            sectors_of(tma_targets(w, in, lane).shared, SIMT_SLOT(const uint32_t, in->c)[lane]);
        break;
    default:
        break;
    }
}

/* Each lane issues a copy of its own; a warp closes its group once. */
void count_bulk_instructions(struct gpu_counters *sum, enum ptx_op op,
                             const struct watch_tally *tally)
{
    switch (op) {
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
    case PTX_OP_CP_BULK_G2S:
        sum->bulk_load_instructions += tally->on;
        sum->bulk_requests += tally->on;
        break;
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
    case PTX_OP_BULK_RED_G:
    case PTX_OP_BULK_RED_S:
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_CP_BULK_S2G:
        sum->bulk_store_instructions += tally->on;
        sum->bulk_requests += tally->on;
        break;
    case PTX_OP_TMA_PREFETCH:
    case PTX_OP_TMA_PREFETCH_IM2COL:
    case PTX_OP_CP_BULK_PREFETCH:
    case PTX_OP_PREFETCH_MAP:
        sum->bulk_requests += tally->on;
        break;
    case PTX_OP_CP_BULK_COMMIT:
        sum->bulk_requests += tally->on ? tally->warps : 0;
        break;
    default:
        break;
    }
}
