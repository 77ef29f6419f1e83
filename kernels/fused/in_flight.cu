/*
 * in_flight.cu: forward: a thread takes the same columns of several rows: ROWS with GELU, where it is short
 * of instructions, and 2 with a residual. The bias is loaded once for all of them, all loads come before
 * the first store, and Philox runs while they are under way.
 */
// arch: sm_80
#include "chains.h"

#define BLOCK 128 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8

template <class Chain, class T>
static __device__ __forceinline__ void in_flight(arrays<T> a, dropout d)
{
    const int width = BLOCK * PER<T>, high = Chain::residual ? 2 : ROWS;
    unsigned tiles = (unsigned)((a.cols + width - 1) / width), band = blockIdx.x / tiles;
    long long row = (long long)band * high, from = (long long)(blockIdx.x - band * tiles) * width;
    if (!in_vectors(a)) {
        long long end = min(from + width, a.cols);
#pragma unroll 1
        for (int k = 0; k < high && row + k < a.rows; k++)
#pragma unroll 1
            for (long long column = from + threadIdx.x; column < end; column += BLOCK)
                do_element<Chain>(a, d, row + k, column);
        return;
    }
    long long column = from + threadIdx.x * PER<T>, at = row * a.cols + column;
    round_keys keys = keys_of(d.stream.seed);
    if (column >= a.cols)
        return;
    uint4 bias = *(const uint4 *)(a.bias + column);
    if (row + high > a.rows) { // the last band
#pragma unroll 1
        for (; row < a.rows; row++, at += a.cols)
            do_vector<Chain>(a, d, keys, at, bias, load_vector<Chain>(a, at));
        return;
    }
    loaded v[high];
#pragma unroll
    for (int k = 0; k < high; k++)
        v[k] = load_vector<Chain>(a, at + k * a.cols);
#pragma unroll
    for (int k = 0; k < high; k++)
        do_vector<Chain>(a, d, keys, at + k * a.cols, bias, v[k]);
}

FORWARD_KERNELS(in_flight, BLOCK)
