/*
 * in_flight.cu: forward: a thread takes the same columns of several rows: ROWS with GELU, where it
 * is short of instructions, and 2 with a residual. The bias is loaded once for all of them, all
 * loads come before the first store, and Philox runs while they are under way.
 */
// arch: sm_80
#include "chains.h"

#define BLOCK 128 // tune: 128 256
#define ROWS 8 // tune: 2 4 8
#define ASYNC 1 // tune: 0 1

/* All but the last `left` copies have arrived: known where the loop is unrolled. */
static __device__ __forceinline__ void wait_for_copies(int left)
{
    switch (left) {
    case 1:
        copy_async_wait(1);
        break;
    case 2:
        copy_async_wait(2);
        break;
    case 3:
        copy_async_wait(3);
        break;
    case 4:
        copy_async_wait(4);
        break;
    case 5:
        copy_async_wait(5);
        break;
    case 6:
        copy_async_wait(6);
        break;
    case 7:
        copy_async_wait(7);
        break;
    default:
        copy_async_wait(0);
    }
}

/* ROWS rows, by way of shared memory: there loads hold no registers, so that the compiler cannot
 * put them off to save some. A thread reads what it copied itself, and waits for nobody. */
template <class Chain, class T>
static __device__ __forceinline__ void do_rows(arrays<T> a, dropout d, const round_keys &keys,
                                               long long at, uint4 bias)
{
    __shared__ uint4 rows[ROWS][BLOCK];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        copy_async_16(&rows[k][threadIdx.x], a.x + at + k * a.cols, 16);
        copy_async_commit();
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        wait_for_copies(ROWS - 1 - k);
        uint4 x = rows[k][threadIdx.x];
        do_vector<Chain>(a, d, keys, at + k * a.cols, bias, loaded{x, x});
    }
}

template <class Chain, class T>
static __device__ __forceinline__ void in_flight(arrays<T> a, dropout d)
{
    const int width = BLOCK * PER<T>, high = Chain::residual ? 2 : ROWS;
    unsigned tiles = (unsigned)((a.cols + width - 1) / width), band = blockIdx.x / tiles;
    long long row = (long long)band * high, from = (long long)(blockIdx.x - band * tiles) * width;
    if (!in_vectors(a, d)) {
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
    if constexpr (ASYNC && !Chain::residual) {
        do_rows<Chain>(a, d, keys, at, bias);
    } else {
        loaded v[high];
#pragma unroll
        for (int k = 0; k < high; k++)
            v[k] = load_vector<Chain>(a, at + k * a.cols);
#pragma unroll
        for (int k = 0; k < high; k++)
            do_vector<Chain>(a, d, keys, at + k * a.cols, bias, v[k]);
    }
}

FORWARD_KERNELS(in_flight, BLOCK)
