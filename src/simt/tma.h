/*
 * tma.h: a bulk copy of a tensor, row by row: what each row of the box is in global and in shared
 * memory. Bodies move the bytes (exec_bulk.c) and the watched loop shows them to watchers
 * (exec_watch.c); both walk over the same rows.
 *
 * In an interleaved map (NC/8HWC8, NC/16HWC16) the dimensions are W, H, D, slice, N, of which H and
 * D may be missing. A slice has 16 or 32 bytes of channels for every pixel: that is what coordinate
 * 0 counts, whatever the element type. A copy takes one slice, so the box has no extent there, and
 * the im2col walk begins at dimension 0. Rows are packed in shared memory under every swizzle. All
 * of this is as an H200 showed it; the PTX ISA does not say.
 */
#ifndef LOCKSTEP_SIMT_TMA_H
#define LOCKSTEP_SIMT_TMA_H

#include "simt/cluster.h"
#include "simt/tensormap.h"

struct tma_copy {
    struct tensormap map;
    uint64_t map_address;
    bool is_load; /* else a store or a reduction */
    bool is_im2col;
    int64_t at[TENSORMAP_RANKS]; /* where the box begins, in elements */
    uint32_t offsets[3];         /* im2col: of the filter's element, W first */
    uint32_t shared;             /* where the box begins in shared memory of its block */
    uint32_t
        unit; /* bytes that coordinate 0 counts: an element, or an interleaved slice's 16, 32 */
    uint32_t row_bytes, pitch; /* of a row; from row to row in shared memory */
    uint32_t row_count;
    unsigned first; /* the innermost dimension that rows follow one another in: 1, or 0 */
    uint32_t bytes; /* what an mbarrier is told of */
};

/* A row of the box: [first, end) of its bytes lie in the tensor, with byte 0 at address. */
struct tma_row {
    uint64_t address;
    uint32_t shared; /* before swizzling */
    uint32_t first, end;
};

struct tma_walk {
    int64_t at[TENSORMAP_RANKS];
    uint32_t counts[TENSORMAP_RANKS]; /* rows done, by dimension */
    uint32_t row;
};

/* Reads a lane's operands and its tensor map; false after a fault. */
bool tma_begin(struct simt_warp *w, const struct simt_inst *in, int lane, struct tma_copy *copy);
void tma_walk_begin(const struct tma_copy *copy, struct tma_walk *walk);
/* The next row; false after the last. */
bool tma_walk_next(const struct tma_copy *copy, struct tma_walk *walk, struct tma_row *row);

/* Where 16 bytes of shared memory lie that are at this address before swizzling. */
static inline uint32_t tma_swizzle(const struct tma_copy *copy, uint32_t shared)
{
    uint32_t mask = (1u << copy->map.swizzle) - 1;
    return shared ^ (shared >> 7 & mask) << 4;
}

/* Which blocks of the cluster a copy writes to, and where: the same offsets in each. */
struct tma_targets {
    uint32_t ranks; /* 0: outside of the cluster, or its mbarrier is in another block */
    uint32_t shared, mbarrier;
};
/* Is the copy counted at an mbarrier? Then, where it goes to. */
bool tma_is_counted(enum ptx_op op);
struct tma_targets tma_targets(const struct simt_warp *w, const struct simt_inst *in, int lane);

/* Shared addresses come as 32-bit window addresses, or as generic ones in 64 bits. */
static inline uint64_t tma_address(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    return narrow ? SIMT_SLOT(const uint32_t, slot)[lane] : SIMT_SLOT(const uint64_t, slot)[lane];
}

/* The offset in the block's own shared memory; of another block's address, one that lies outside.
 */
static inline uint64_t tma_shared_address(const struct simt_warp *w, uint32_t slot, bool narrow,
                                          int lane)
{
    uint64_t address = tma_address(w, slot, narrow, lane);
    address -= address >= SIMT_SHARED_WINDOW ? SIMT_SHARED_WINDOW : 0;
    uint64_t offset = address - w->block->window;
    return offset <= SIMT_OFFSET_MASK ? offset : address;
}

#endif
