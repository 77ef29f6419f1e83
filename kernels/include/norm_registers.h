/*
 * norm_registers.h: norms of rows that are read once and wait in registers, V vectors of 16 bytes a
 * thread: some lanes of a warp for a short row, a block for a longer one. Any type, length and
 * alignment: rows that do not begin at multiples of 16 bytes are taken number by number. Of those
 * the longer ones are read twice, as are rows that no block holds.
 */
#ifndef LOCKSTEP_KERNELS_NORM_REGISTERS_H
#define LOCKSTEP_KERNELS_NORM_REGISTERS_H

#include "norm.h"
#include "prefetch.h"

enum { BYTES_AHEAD = 4 << 20 }; /* from what a block reads to what it asks the L2 for */

/* Elements of vector v that are in the row: they come first. */
template <class T> static __device__ __forceinline__ int filled_of(share s, int v)
{
    if (s.whole)
        return s.first + v * s.step < s.end ? PER<T> : 0;
    long long left = s.end - place<T>(s, v, 0);
    if (left > (PER<T> - 1) * s.step)
        return PER<T>;
    return left <= 0 ? 0 : ((unsigned)left + (unsigned)s.step - 1) / (unsigned)s.step;
}

/* What is normalised, of one row: x, or x + residual, which is also stored. */
template <class T, int V>
static __device__ __forceinline__ void load(norm_job<T> a, long long row, share s, uint4 (&v)[V],
                                            int (&filled)[V])
{
    load_share<T, V>(a.x + row * a.cols, s, 0, v);
#pragma unroll
    for (int k = 0; k < V; k++)
        filled[k] = filled_of<T>(s, k);
    if (!(a.has & HAS_RESIDUAL))
        return;
    uint4 r[V];
    load_share<T, V>(a.residual + row * a.cols, s, 0, r);
#pragma unroll
    for (int k = 0; k < V; k++) {
        float x[PER<T>];
        v[k] = add_vectors<T>(v[k], r[k]);
        widen_all<T>(v[k], x);
        store_share(a.sum + row * a.cols, s, k, x);
    }
}

template <class T, bool LAYER, int V>
static __device__ __forceinline__ void write(norm_job<T> a, long long row, share s,
                                             const uint4 (&v)[V], const int (&filled)[V],
                                             statistics st)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        if (s.whole) {
            if (filled[k])
                write_vector<T, LAYER>(a, row, s.first + k * s.step, v[k], st);
            continue;
        }
        float x[PER<T>];
        widen_all<T>(v[k], x);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            if (i < filled[k])
                write_one<T, LAYER>(a, row, place<T>(s, k, i), x[i], st);
    }
}

/* Rows of 1 << log_lanes lanes each, 32 at most; a block takes as many as it has lanes for. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void norm_lanes(norm_job<T> a, unsigned log_lanes)
{
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> log_lanes;
    bool mine = row < a.rows;
    row = mine ? row : 0;
    share s = share_of(a.x, me, lanes, 0, mine ? a.cols : 0, a.whole);
    uint4 v[V];
    int filled[V];
    load<T, V>(a, row, s, v, filled);
    moments m = merge_lanes<LAYER>(measure<T, LAYER, false, V>(v, filled, 1), lanes);
    float factor = mine ? factor_for(m, a.cols, a.eps) : 1;
    if (__any_sync(0xffffffff, factor != 1)) // rarely
        m = merge_lanes<LAYER>(measure<T, LAYER, false, V>(v, filled, factor), lanes);
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    if (!mine)
        return;
    write<T, LAYER, V>(a, row, s, v, filled, st);
    if (me == 0)
        store_statistics<T, LAYER>(a, row, st);
}

/* A block for each row; rows begin at multiples of 16 bytes. PLAIN: gamma and beta are there,
 * nothing is added before, and results have the type of x. */
template <class T, bool LAYER, int V, bool PLAIN>
static __device__ __forceinline__ void norm_block(norm_job<T> a)
{
    __shared__ moments of_warp[2][32];
    a.whole = true; // so that the compiler knows
    if (PLAIN)
        a.has = (a.has & HAS_STATS) | HAS_GAMMA | HAS_BETA;
    long long row = blockIdx.x;
    share s = share_of(a.x, threadIdx.x, blockDim.x, 0, a.cols, a.whole);
    uint4 v[V];
    int filled[V];
    load<T, V>(a, row, s, v, filled);
    if (PLAIN) {
        prefetch_later(a.x + row * a.cols, a.cols * sizeof(T), (a.rows - row) * a.cols * sizeof(T),
                       BYTES_AHEAD);
        only_words(v);
    }
    moments m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, 1), of_warp[0]);
    if (PLAIN)
        only_words(v);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) // rarely
        m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, factor), of_warp[1]);
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    write<T, LAYER, V>(a, row, s, v, filled, st);
    if (threadIdx.x == 0)
        store_statistics<T, LAYER>(a, row, st);
}

/* A pass over a row of any length: its moments. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ moments measure_long(norm_job<T> a, float factor)
{
    moments m = {0, 0, 0};
    uint4 v[V];
    int filled[V];
    for (long long from = 0; from < a.cols; from += (long long)blockDim.x * V * PER<T>) {
        share s = share_of(a.x, threadIdx.x, blockDim.x, from, a.cols, a.whole);
        load<T, V>(a, blockIdx.x, s, v, filled);
        m = merge<LAYER>(m, measure<T, LAYER, false, V>(v, filled, factor));
    }
    return m;
}

/* Rows of any length, by a block each: read twice. A sum may lie where x or residual did, so it is
 * only formed once; the thread that stored a part of it reads that part again. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void norm_long(norm_job<T> a)
{
    __shared__ moments of_warp[2][32];
    long long row = blockIdx.x;
    moments m = merge_block<LAYER>(measure_long<T, LAYER, V>(a, 1), of_warp[0]);
    float factor = factor_for(m, a.cols, a.eps);
    if (a.has & HAS_RESIDUAL) {
        a.x = a.sum;
        a.has -= HAS_RESIDUAL;
    }
    if (factor != 1)
        m = merge_block<LAYER>(measure_long<T, LAYER, V>(a, factor), of_warp[1]);
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    uint4 v[V];
    int filled[V];
    for (long long from = 0; from < a.cols; from += (long long)blockDim.x * V * PER<T>) {
        share s = share_of(a.x, threadIdx.x, blockDim.x, from, a.cols, a.whole);
        load<T, V>(a, row, s, v, filled);
        write<T, LAYER, V>(a, row, s, v, filled, st);
    }
    if (threadIdx.x == 0)
        store_statistics<T, LAYER>(a, row, st);
}

#define NORM_REGISTERS(type, T, LAYER, VECTORS)                                                    \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        short_##type(NORM_ARGUMENTS(T), unsigned log_lanes)                                        \
    {                                                                                              \
        norm_lanes<T, LAYER, 1>(NORM(T), log_lanes);                                               \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        lanes_##type(NORM_ARGUMENTS(T), unsigned log_lanes)                                        \
    {                                                                                              \
        norm_lanes<T, LAYER, 4>(NORM(T), log_lanes);                                               \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) block_##type(NORM_ARGUMENTS(T))             \
    {                                                                                              \
        norm_block<T, LAYER, VECTORS, false>(NORM(T));                                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512, 2) plain_##type(NORM_ARGUMENTS(T))           \
    {                                                                                              \
        norm_block<T, LAYER, VECTORS, true>(NORM(T));                                              \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

/* By itself, for files whose other kernels need rows at multiples of 16 bytes. */
#define NORM_LONG(type, T, LAYER)                                                                  \
    extern "C" __global__ void __launch_bounds__(1024) long_##type(NORM_ARGUMENTS(T))              \
    {                                                                                              \
        norm_long<T, LAYER, 2>(NORM(T));                                                           \
    }

#endif
