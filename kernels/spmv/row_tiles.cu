/*
 * row_tiles.cu: a block takes BLOCK rows and treats their nonzeros as one stream: every load is
 * coalesced and every thread has several gathers in flight; only afterwards, in shared memory, are
 * the products assigned to rows. One launch, no workspace. But a block with a huge row is late;
 * path_tiles.cu cures that.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512
#define PER_THREAD 16 // tune: 4 8 12 16
#define OCCUPANCY 1024 // tune: 768 1024 1536 2048
#include "tile.h"

/* Rows with more than SHORT nonzeros in a tile, in any order; a warp sums up each. */
struct long_rows {
    unsigned count, row[TILE / SHORT];
};

static __device__ __forceinline__ void sum_long_rows(const long_rows *rows, const float *product,
                                                     const int *start, long long base,
                                                     float *sum_of)
{
    for (unsigned k = threadIdx.x / 32; k < rows->count; k += BLOCK / 32) {
        unsigned row = rows->row[k];
        long long begin = start[row] - base, end = start[row + 1] - base;
        float sum = sum_long(product, begin > 0 ? begin : 0, end < TILE ? end : TILE);
        if (threadIdx.x % 32 == 0)
            sum_of[row] += sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, long long nonzeros, float *y)
{
    __shared__ float product[PLACES], sum_of[BLOCK];
    __shared__ int start[BLOCK + 1];
    __shared__ long_rows longer[2]; /* of this tile and the next */
    unsigned me = threadIdx.x, turn = 0;
    long long first_row = (long long)blockIdx.x * BLOCK, row = first_row + me;
    start[me] = __ldg(offsets + min(row, rows));
    sum_of[me] = 0;
    if (me == 0)
        start[BLOCK] = __ldg(offsets + min(first_row + BLOCK, rows));
    if (me < 2)
        longer[me].count = 0;
    __syncthreads();
    int my_begin = start[me], my_end = start[me + 1];
    long long last = start[BLOCK];
    float sum = 0;
    for (long long base = BASE_OF(start[0]); base < last; base += TILE, turn ^= 1) {
        /* Where my row begins and stops in this tile. */
        long long end = min(base + TILE, last);
        int begin = my_begin > base ? my_begin - base : 0;
        int stop = (my_end < end ? my_end : end) - base;
        if (stop - begin > SHORT)
            longer[turn].row[atomicAdd(&longer[turn].count, 1)] = me;
        multiply_tile(source_of(columns, values, base, end, nonzeros), x, product);
        __syncthreads();
        if (stop - begin <= SHORT)
            sum += sum_short(product, begin, stop);
        sum_long_rows(&longer[turn], product, start, base, sum_of);
        __syncthreads();
        if (me == 0) /* for the tile after the next: a barrier lies between */
            longer[turn].count = 0;
    }
    if (row < rows)
        __stcs(y + row, sum + sum_of[me]);
}
