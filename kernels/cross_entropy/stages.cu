/*
 * stages.cu: one read and one write. A cluster of blocks takes one row after the other, each block
 * a part of the vocabulary. Bulk copies fetch the next row into shared memory while this one is in
 * registers, and the blocks send each other what they know of it (parts.h). Buffers that do not
 * begin at multiples of 16 bytes are left to online.
 */
// arch: sm_90
#include "parts.h"

#define VECTORS 8 // tune: 8
#define STAGES 2 // tune: 2
#define THREADS 256 // tune: 256; more where 8 blocks of them do not hold a row

template <class T>
static __device__ __forceinline__ void fetch(uint4 *stage, part_of_row p, const T *row,
                                             barrier *full)
{
    barrier_arrive_expecting(full, p.count * 16);
    if (p.count)
        bulk_load(stage, row + (long long)p.first * PER<T>, p.count * 16, full);
}

template <class T, int V> static __device__ __forceinline__ void entropy_stages(entropy_job<T> a)
{
    extern __shared__ uint4 stages[]; // [STAGES][room]
    __shared__ barrier full[STAGES];
    __shared__ known of_warp[2][32];
    __shared__ turns<float4> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    unsigned clusters = gridDim.x / cluster_size(), turn = 0;
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch(stages + k * p.room, p, a.logits + (begin + k * (long long)clusters) * a.cols,
                  &full[k]);
    }
    turns_begin(&of_blocks);
    __syncthreads();
    turns_wait();
    wait_for_kernels_before(); // which counts the rows; it leaves logits and labels alone
    float share = *a.share;
    long long ahead = a.labels[begin]; // begin is a row: clusters <= rows
    unsigned stage = 0, parity = 0;
    for (long long row = begin; row < a.rows; row += clusters, turn++) {
        uint4 *here = stages + stage * p.room, v[V];
        long long label = ahead, next = row + STAGES * (long long)clusters;
        if (row + clusters < a.rows)
            ahead = a.labels[row + clusters];
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            v[k] = at < p.count ? here[at] : filler<T>();
        }
        known k = merge_warps(measure<T, V>(v, p.count, a.smoothing != 0), of_warp[turn % 2]);
        if (fetches && next < a.rows) // every thread has its part of the stage
            fetch(here, p, a.logits + next * a.cols, &full[stage]);
        k = merge_blocks(k, &of_blocks, turn);
        outcome o = outcome_of(a, label, k, share);
        if (threadIdx.x == 0 && cluster_rank() == 0)
            write_other_loss(a, row, o);
        write_part<T, V>(a, row, p, v, o);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

/* Three blocks of 256 threads on an SM; "wide" for rows that 8 such blocks do not hold. */
#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(THREADS, 768 / THREADS)                           \
        stages_##type(ENTROPY_ARGUMENTS(T))                                                        \
    {                                                                                              \
        entropy_stages<T, VECTORS>(ENTROPY(T));                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512) wide_##type(ENTROPY_ARGUMENTS(T))            \
    {                                                                                              \
        entropy_stages<T, VECTORS>(ENTROPY(T));                                                    \
    }                                                                                              \
    ENTROPY_ONLINE(type, T)
KERNELS(bf16, bf16)
KERNELS(f16, f16)
KERNELS(f32, float)
ENTROPY_ENDS
