/*
 * merge.h: what the warps of a block and the blocks of a cluster found in keys of their own becomes
 * one result, in a fixed order, through shared memory. For decode.h.
 */
#ifndef LOCKSTEP_KV_CACHE_MERGE_H
#define LOCKSTEP_KV_CACHE_MERGE_H

#include "cache.h"

/* What a warp knows of its keys: of queries 2 c and 2 c + 1 the largest score and this lane's part
 * of the sum; and O^T. */
template <int D> struct state {
    float most[2], sum[2];
    float o[D / 16][4];
};

static __device__ __forceinline__ float sum_lines(float x)
{
    for (int distance = 4; distance < 32; distance *= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

static __device__ __forceinline__ float load_from_block(const float *at, unsigned rank)
{
    float x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; "
                 "ld.shared::cluster.f32 %0, [there]; }"
                 : "=f"(x)
                 : "r"(shared_address(at)), "r"(rank));
    return x;
}
static __device__ __forceinline__ void cluster_sync(void)
{
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
            : "memory");
}

/* What a block found, in shared memory: of each query the largest score, the sum and O. */
template <int D> struct found {
    float most[8], sum[8], o[8][D + 1];
};

/* The warps' states become one; `of_warp` has a place for each warp. Beyond `queries` there are
 * none. */
template <int D, int WARPS>
static __device__ __forceinline__ void merge_warps(state<D> &s, found<D> *of_warp, found<D> *all,
                                                   int queries)
{
    int warp = threadIdx.x / 32, line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
    found<D> *mine = &of_warp[warp];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float sum = sum_lines(s.sum[j]);
        if (2 * column + j >= queries)
            continue;
        if (line == 0) {
            mine->most[2 * column + j] = s.most[j];
            mine->sum[2 * column + j] = sum;
        }
#pragma unroll
        for (int t = 0; t < D / 16; t++) {
            mine->o[2 * column + j][line * (D / 8) + 2 * t] = s.o[t][j];
            mine->o[2 * column + j][line * (D / 8) + 2 * t + 1] = s.o[t][2 + j];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < queries * D; i += 32 * WARPS) {
        int query = i / D, number = i % D;
        float most = -INFINITY, sum = 0, o = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            most = fmaxf(most, of_warp[w].most[query]);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            float weight = of_warp[w].most[query] == -INFINITY
                               ? 0
                               : power_of_two(of_warp[w].most[query] - most);
            sum += weight * of_warp[w].sum[query];
            o += weight * of_warp[w].o[query][number];
        }
        all->o[query][number] = o;
        if (number == 0) {
            all->most[query] = most;
            all->sum[query] = sum;
        }
    }
}

/* And the blocks' results, each block some queries' numbers. */
template <int D, class T>
static __device__ __forceinline__ void merge_blocks(const found<D> *all, T *o, int queries,
                                                    float scale, unsigned rank, unsigned parts,
                                                    unsigned threads)
{
    for (unsigned i = rank * threads + threadIdx.x; i < (unsigned)queries * D;
         i += parts * threads) {
        unsigned query = i / D, number = i % D;
        float most = -INFINITY, sum = 0, value = 0;
#pragma unroll 2
        for (unsigned part = 0; part < parts; part++) {
            const float *at[3] = {&all->most[query], &all->sum[query], &all->o[query][number]};
            float x[3];
#pragma unroll
            for (int k = 0; k < 3; k++)
                x[k] = parts > 1 ? load_from_block(at[k], part) : *at[k];
            float next = fmaxf(most, x[0]);
            float shrink = most == -INFINITY ? 0 : power_of_two(most - next);
            float weight = x[0] == -INFINITY ? 0 : power_of_two(x[0] - next);
            sum = fmaf(sum, shrink, weight * x[1]);
            value = fmaf(value, shrink, weight * x[2]);
            most = next;
        }
        narrow(sum > 0 ? value / sum * scale : 0, &o[i]);
    }
}

#endif
