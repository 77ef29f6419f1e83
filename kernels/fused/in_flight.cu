/*
 * in_flight.cu: forward: a thread takes the same columns of ROWS rows. The bias is loaded once for all of
 * them, all loads come before the first store, and Philox runs while they are under way.
 */
// arch: sm_80
#include "chains.h"

#define BLOCK 128 // tune: 128 256 512
#define ROWS 2 // tune: 1 2 4 8

template <class Chain, class T>
static __device__ __forceinline__ void in_flight(arrays<T> a, dropout d)
{
    const int width = BLOCK * PER<T>;
    long long tiles = (a.cols + width - 1) / width, band = blockIdx.x / tiles, row = band * ROWS;
    long long from = (blockIdx.x - band * tiles) * width;
    if (!in_vectors(a)) {
        long long end = min(from + width, a.cols);
#pragma unroll 1
        for (int k = 0; k < ROWS && row + k < a.rows; k++)
#pragma unroll 1
            for (long long column = from + threadIdx.x; column < end; column += BLOCK)
                do_element<Chain>(a, d, row + k, column);
        return;
    }
    long long column = from + threadIdx.x * PER<T>, at = row * a.cols + column;
    if (column >= a.cols)
        return;
    uint4 bias = *(const uint4 *)(a.bias + column);
    loaded v[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (row + k < a.rows)
            v[k] = load_vector<Chain>(a, at + k * a.cols);
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (row + k < a.rows)
            do_vector<Chain>(a, d, at + k * a.cols, bias, v[k]);
}

FORWARD_KERNELS(in_flight, BLOCK)
