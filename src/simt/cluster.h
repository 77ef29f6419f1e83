/*
 * cluster.h: thread block clusters. The blocks of a cluster run on one worker and take turns, so
 * what they do to each other's shared memory needs no lock.
 *
 * Addresses are laid out as the hardware has them: a shared address is the rank of its block in the
 * cluster, shifted by 24, plus the offset in that block's shared memory. A block's own addresses
 * have its rank too; block->window is that part of them. Without clusters it is 0.
 */
#ifndef LOCKSTEP_SIMT_CLUSTER_H
#define LOCKSTEP_SIMT_CLUSTER_H

#include "simt/core.h"
#include "simt/mbarrier.h"

#define SIMT_CLUSTER_MOST 16
#define SIMT_RANK_SHIFT 24
#define SIMT_OFFSET_MASK ((UINT64_C(1) << SIMT_RANK_SHIFT) - 1)
/* path->barrier of a path that waits for its cluster. */
#define SIMT_CLUSTER_BARRIER SIMT_BARRIERS

struct simt_cluster {
    uint32_t size, ended;
    struct simt_block *blocks[SIMT_CLUSTER_MOST]; /* by rank */
};

/* The blocks of the cluster; a block without one is a cluster by itself. */
static inline struct simt_block *const *simt_cluster_blocks(struct simt_block *const *block,
                                                            uint32_t *count)
{
    const struct simt_cluster *cluster = (*block)->cluster;
    *count = cluster ? cluster->size : 1;
    return cluster ? cluster->blocks : block;
}

static inline uint32_t simt_block_rank(const struct simt_block *block)
{
    return block->window >> SIMT_RANK_SHIFT;
}

/* For what copies, stores and arrives somewhere in the cluster (exec_async.c, exec_cluster.c):
 * simt_shared_split turns a shared address, or a generic one that lies in shared memory, into rank
 * and offset; simt_cluster_shared gives the bytes there, NULL after raising a fault (no such block,
 * outside of its shared memory, misaligned, or the block has ended). A multicast does that for
 * every rank of its mask, with the offset of its address. */
void simt_shared_split(uint64_t address, uint32_t *rank, uint32_t *offset);
uint8_t *simt_cluster_shared(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                             uint32_t offset, uint32_t size, int lane, bool is_write);
/* `bytes` bytes have been written to the shared memory of block `rank`: counts them at the
 * mbarrier at `offset` there (complete_tx). false after raising a fault. */
bool simt_cluster_complete(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                           uint32_t offset, uint32_t bytes, int lane);

/* barrier.cluster */
const struct simt_inst *simt_cluster_arrive(struct simt_warp *w, const struct simt_inst *in);
const struct simt_inst *simt_cluster_wait(struct simt_warp *w, const struct simt_inst *in);
/* Threads of the block have exited: the others may have waited for them. */
void simt_cluster_check(struct simt_block *block);

/* stuck.c: ends a launch none of whose threads in this block or cluster can go on, with a message
 * that lists where each waits, and for what. */
void simt_raise_stuck(struct simt_block *block, bool polls);

#endif
