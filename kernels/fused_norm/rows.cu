/*
 * rows.cu: forward: a block has a row; what it adds up stays in its registers until the norm is known. x,
 * bias and residual are read once, sum and y written once. Rows that no block holds, or that do not begin
 * at multiples of 16 bytes, are read again where the same threads have just stored them.
 */
// arch: sm_80
#include "chain.h"

#define VECTORS 4 // tune: 2 4 8

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
        long_##name(NORM_ARGUMENTS(T), const T *bias, DROPOUT)                                     \
    {                                                                                              \
        chain_long<T, LAYER>(NORM(T), bias, DROP);                                                 \
    }
FOR_TYPES(ROWS)
