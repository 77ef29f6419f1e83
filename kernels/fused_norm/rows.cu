/*
 * rows.cu: forward: a block has a row; what it adds up stays in its registers until the norm is known. x,
 * bias and residual are read once, sum and y written once. Rows that no block holds, or that do not begin
 * at multiples of 16 bytes, are read again where the same threads have just stored them. Rows that fill all
 * vectors of all threads have a kernel of their own, without a question for each vector: with Philox, the
 * chain and the norm, instructions take nearly as long as memory.
 */
// arch: sm_80
#include "chain.h"

#define VECTORS 4 // tune: 2 4 8

/* The sum of a row of as many vectors as the block's threads take, into memory and v. */
template <class T>
static __device__ __forceinline__ void load_full(norm_job<T> a, const T *bias, dropout d, long long at,
                                                 uint4 (&v)[VECTORS])
{
    uint4 r[VECTORS];
    unsigned limit = d.threshold << 16; // bits are compared at the top of a word
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        v[k] = load_once((const uint4 *)(a.x + at + k * blockDim.x * PER<T>));
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        r[k] = load_once((const uint4 *)(a.residual + at + k * blockDim.x * PER<T>));
    uint4 random[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        random[k] = counter_of(d.stream, (unsigned)((at + k * blockDim.x * PER<T>) / 8));
    unsigned key0 = (unsigned)d.stream.seed, key1 = (unsigned)(d.stream.seed >> 32);
#pragma unroll
    for (int round = 0; round < PHILOX_ROUNDS; round++) { // a round's keys are made once for all vectors
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            random[k] = philox_round(random[k], key0, key1);
        key0 += 0x9e3779b9u, key1 += 0xbb67ae85u;
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        float x[PER<T>], b[PER<T>], other[PER<T>];
        unsigned column = (threadIdx.x + k * blockDim.x) * PER<T>;
        long long here = at + k * blockDim.x * PER<T>;
        uint4 words = words_from<PER<T>>(random[k], here);
        unsigned word[4] = {words.x, words.y, words.z, words.w};
        widen_all<T>(*(const uint4 *)(bias + column), b);
        widen_all<T>(v[k], x);
        widen_all<T>(r[k], other);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            x[i] = chain_of((i % 2 ? word[i / 2] : word[i / 2] << 16) < limit, d.scale, x[i], b[i],
                            other[i]);
        v[k] = narrow_all<T>(x);
        store_stream((uint4 *)(a.sum + here), v[k]);
    }
}

template <class T, bool LAYER>
static __device__ __forceinline__ void full_row(norm_job<T> a, const T *bias, dropout d)
{
    __shared__ moments of_warp[2][32];
    const float of_lanes = 32 * VECTORS * PER<T>;
    long long row = blockIdx.x, at = row * a.cols + threadIdx.x * PER<T>;
    uint4 v[VECTORS];
    int filled[VECTORS];
    load_full(a, bias, d, at, v);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        filled[k] = PER<T>;
    a.has &= HAS_STATS | HAS_GAMMA | HAS_BETA;
    moments m = merge_lanes<LAYER>(measure<T, LAYER, true, VECTORS>(v, filled, 1), 32, of_lanes);
    m = merge_warps<LAYER>(m, of_warp[0]);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) { // rarely
        m = merge_lanes<LAYER>(measure<T, LAYER, true, VECTORS>(v, filled, factor), 32, of_lanes);
        m = merge_warps<LAYER>(m, of_warp[1]);
    }
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    bool both = LAYER && (a.has & HAS_GAMMA) && (a.has & HAS_BETA);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unsigned column = (threadIdx.x + k * blockDim.x) * PER<T>;
        if (both)
            write_affine<T, LAYER>(a, row, column, v[k],
                                   affine_at_hand{*(const uint4 *)(a.gamma + column),
                                                  *(const uint4 *)(a.beta + column)},
                                   st);
        else
            write_vector<T, LAYER>(a, row, column, v[k], st);
    }
    if (threadIdx.x == 0)
        store_statistics<T, LAYER>(a, row, st);
}

/* Any row of whole vectors. */
template <class T, bool LAYER>
static __device__ __forceinline__ void chain_rows(norm_job<T> a, const T *bias, dropout d)
{
    __shared__ moments of_warp[2][32];
    long long row = blockIdx.x;
    share s = share_of(a.x, threadIdx.x, blockDim.x, 0, a.cols, true);
    uint4 v[VECTORS];
    int filled[VECTORS];
    a.whole = true; // so that the compiler knows
    load_chain<T, VECTORS>(a, bias, d, row, s, v, filled);
    moments m = merge_block<LAYER>(measure<T, LAYER, true, VECTORS>(v, filled, 1), of_warp[0]);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) // rarely
        m = merge_block<LAYER>(measure<T, LAYER, true, VECTORS>(v, filled, factor), of_warp[1]);
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    write<T, LAYER, VECTORS>(a, row, s, v, filled, st);
    if (threadIdx.x == 0)
        store_statistics<T, LAYER>(a, row, st);
}

/* Each thread reads again what it has stored itself. */
template <class T, bool LAYER>
static __device__ __forceinline__ void chain_long(norm_job<T> a, const T *bias, dropout d)
{
    uint4 v[2];
    int filled[2];
    for (long long from = 0; from < a.cols; from += (long long)blockDim.x * 2 * PER<T>)
        load_chain<T, 2>(a, bias, d, blockIdx.x,
                         share_of(a.x, threadIdx.x, blockDim.x, from, a.cols, a.whole), v, filled);
    a.x = a.sum;
    norm_long<T, LAYER, 2>(a);
}

#define ROWS(name, T, LAYER)                                                                       \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        rows_##name(NORM_ARGUMENTS(T), const T *bias, DROPOUT)                                     \
    {                                                                                              \
        chain_rows<T, LAYER>(NORM(T), bias, DROP);                                                 \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        full_##name(NORM_ARGUMENTS(T), const T *bias, DROPOUT)                                     \
    {                                                                                              \
        full_row<T, LAYER>(NORM(T), bias, DROP);                                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        long_##name(NORM_ARGUMENTS(T), const T *bias, DROPOUT)                                     \
    {                                                                                              \
        chain_long<T, LAYER>(NORM(T), bias, DROP);                                                 \
    }
FOR_TYPES(ROWS)
