/*
 * norm_stages.h: norms whose rows come ahead of time. A block, or a cluster of blocks that each
 * have a part of the columns, takes one row after the other. Bulk copies, which a hardware unit
 * carries out, fetch the next rows into shared memory while this one is in registers: memory never
 * waits for the barriers between reading and writing. A stage is free again as soon as its row is
 * in registers, which the one barrier of the sum shows. sm_90; rows are multiples of 16 bytes, and
 * buffers begin at such: norm_long does the others.
 */
#ifndef LOCKSTEP_KERNELS_NORM_STAGES_H
#define LOCKSTEP_KERNELS_NORM_STAGES_H

#include "norm_parts.h"

/* Fetches a row's part of up to three arrays; those that are not there are null. */
template <class T>
static __device__ __forceinline__ void fetch_rows(uint4 *stage, part_of_row p, const T *first,
                                                  const T *second, const T *third, long long at,
                                                  barrier *full)
{
    unsigned bytes = p.count * 16;
    barrier_arrive_expecting(full, bytes * (1 + (second != nullptr) + (third != nullptr)));
    if (bytes == 0)
        return;
    at += (long long)p.first * PER<T>;
    bulk_load(stage, first + at, bytes, full);
    if (second)
        bulk_load(stage + p.room, second + at, bytes, full);
    if (third)
        bulk_load(stage + 2 * p.room, third + at, bytes, full);
}

template <class T, bool LAYER, int V, int STAGES>
static __device__ __forceinline__ void norm_stages(norm_job<T> a)
{
    extern __shared__ uint4 stages[]; // [STAGES][x, residual][room]
    __shared__ barrier full[STAGES];
    __shared__ moments of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    const T *second = a.has & HAS_RESIDUAL ? a.residual : nullptr;
    unsigned size = second ? 2 * p.room : p.room, clusters = gridDim.x / cluster_size(), turn = 0;
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch_rows(stages + k * size, p, a.x, second, (const T *)nullptr,
                       (begin + k * (long long)clusters) * a.cols, &full[k]);
    }
    turns_begin(&of_blocks);
    __syncthreads();
    turns_wait();
    unsigned stage = 0, parity = 0;
    for (long long row = begin; row < a.rows; row += clusters) {
        const uint4 *here = stages + stage * size;
        uint4 v[V];
        int filled[V];
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            filled[k] = at < p.count ? PER<T> : 0;
            v[k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
            if (second && at < p.count) {
                v[k] = add_vectors<T>(v[k], here[p.room + at]);
                store_stream((uint4 *)(a.sum + row * a.cols) + p.first + at, v[k]);
            }
        }
        moments m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, 1), of_warp[turn % 2]);
        long long next = row + STAGES * (long long)clusters;
        if (fetches && next < a.rows) // every thread has its part of the stage
            fetch_rows(stages + stage * size, p, a.x, second, (const T *)nullptr, next * a.cols,
                       &full[stage]);
        m = merge_cluster<T, LAYER>(m, &of_blocks, turn++, a.cols);
        float factor = factor_for(m, a.cols, a.eps);
        if (factor != 1) { // rarely; all blocks agree
            m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, factor),
                                   of_warp[turn % 2]);
            m = merge_cluster<T, LAYER>(m, &of_blocks, turn++, a.cols);
        }
        statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
#pragma unroll
        for (int k = 0; k < V; k++)
            if (filled[k])
                write_vector<T, LAYER>(
                    a, row, (long long)(p.first + threadIdx.x + k * blockDim.x) * PER<T>, v[k], st);
        if (threadIdx.x == 0 && cluster_rank() == 0)
            store_statistics<T, LAYER>(a, row, st);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define NORM_STAGES(type, T, LAYER, VECTORS, STAGES)                                               \
    extern "C" __global__ void __launch_bounds__(512, 2) stages_##type(NORM_ARGUMENTS(T))          \
    {                                                                                              \
        norm_stages<T, LAYER, VECTORS, STAGES>(NORM(T));                                           \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
