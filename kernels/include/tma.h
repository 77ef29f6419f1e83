/*
 * tma.h: copies of tiles of a matrix between global and shared memory by the tensor memory
 * accelerator (sm_90). The host describes the matrix, the tile and its swizzle in a tensor map; one
 * thread names the tile's first column and row. What lies outside the matrix is read as zero and
 * never written. bulk.h has the barriers that count the bytes of a load.
 */
#ifndef LOCKSTEP_KERNELS_TMA_H
#define LOCKSTEP_KERNELS_TMA_H

#include "bulk.h"

/* CUtensorMap of <cuda.h>, which kernels do not include; passed by value. */
struct alignas(128) tensor_map {
    unsigned long long opaque[16];
};

static __device__ __forceinline__ void tma_prefetch_map(const tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

static __device__ __forceinline__ void tma_load(void *shared, const tensor_map *map, int column,
                                                int row, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(b))
                 : "memory");
}
/* To the same place of every block of the cluster in `blocks`, a bit for each; the bytes count at
 * each block's own barrier. */
static __device__ __forceinline__ void tma_load_multicast(void *shared, const tensor_map *map,
                                                          int column, int row, barrier *b,
                                                          unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                     shared_address(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(b)), "h"(blocks)
                 : "memory");
}

/* Of shared memory that ordinary stores have written: those come first if the threads that made
 * them have called tma_fence, and the one that stores has synchronised with them since. */
static __device__ __forceinline__ void tma_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
static __device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
                                                 const void *shared)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(column), "r"(row), "r"(shared_address(shared))
                 : "memory");
}
/* Adds bytes / 4 floats to as many in global memory; ends as a store does. */
static __device__ __forceinline__ void bulk_add(float *global, const float *shared, unsigned bytes)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                     global),
                 "r"(shared_address(shared)), "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void tma_store_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/* Until at most `groups` of this thread's committed stores have still to read shared memory. */
template <int groups> static __device__ __forceinline__ void tma_store_wait_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}

/* Clusters -------------------------------------------------------------------------------------*/

static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
static __device__ __forceinline__ void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;"
                 ::: "memory");
}
/* At the barrier that lies at the same place in another block of the cluster. Written out with
 * .release.cluster it would become a fence of the whole GPU, which costs more than a stage of a
 * product; what the products read of shared memory needs none. */
static __device__ __forceinline__ void barrier_arrive_in(barrier *b, unsigned rank)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
                 "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(
                     shared_address(b)),
                 "r"(rank)
                 : "memory");
}

/* Registers of a warpgroup: what one gives up, another may take. */
template <int count> static __device__ __forceinline__ void registers_lower_to(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> static __device__ __forceinline__ void registers_raise_to(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

#endif
