/*
 * rescan.cu: backward: a block for each row of the table looks at all tokens in their order, and adds
 * those of its number. The same bits in every run and nothing to prepare, but every row reads all
 * numbers: for a small vocabulary.
 */
// arch: sm_80
#include "rows_of.h"

#define BLOCK 256 // tune: 128 256 512

template <class T, class I>
static __device__ __forceinline__ void sum_row(const I *ids, const T *dout, T *dtable,
                                               long long tokens, long long dim)
{
    __shared__ unsigned found[BLOCK / 32];
    long long row = blockIdx.x, from = (long long)blockIdx.y * BLOCK * PER<T>;
    columns c = columns_of<T>(from, threadIdx.x, BLOCK, dim, in_vectors(dout, dtable, dim));
    float sum[PER<T>] = {};
#pragma unroll 1
    for (long long first = 0; first < tokens; first += BLOCK) {
        long long token = first + threadIdx.x;
        unsigned votes = __ballot_sync(0xffffffff, token < tokens && ids[token] == row);
        if (threadIdx.x % 32 == 0)
            found[threadIdx.x / 32] = votes;
        __syncthreads();
        for (int warp = 0; warp < BLOCK / 32; warp++)
            for (unsigned left = found[warp]; left; left &= left - 1) {
                float x[PER<T>];
                load_columns(dout + (first + warp * 32 + __ffs(left) - 1) * dim, c, x);
                for (int k = 0; k < PER<T>; k++)
                    sum[k] += x[k];
            }
        __syncthreads();
    }
    store_columns(dtable + row * dim, c, sum);
}

#define MAKE(suffix, T, I)                                                                         \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        backward_##suffix(const I *ids, const T *dout, T *dtable, long long tokens,                \
                          long long vocab, long long dim)                                          \
    {                                                                                              \
        sum_row<T, I>(ids, dout, dtable, tokens, dim);                                             \
    }
FOR_TYPES(MAKE)
