/*
 * shared.cu: a thread for each element, and the row in shared memory, where every thread looks
 * through the elements before its own. Memory is read side by side; each element costs 31 more
 * reads of shared memory and as many comparisons.
 */
// arch: sm_75
#include "row.h"

#define BLOCK 256 // tune: 128 256 512

// How many of the warp's first elements, up to the given lane, are the same as value; or, with any,
// not zero.
static __device__ int count_before(int value, bool any, int lanes)
{
    __shared__ int all[BLOCK];
    int *row = all + threadIdx.x / 32 * 32;
    row[threadIdx.x % 32] = value;
    __syncwarp();
    int count = 0;
    for (int i = 0; i < lanes; i++)
        count += any ? row[i] != 0 : row[i] == value;
    __syncwarp();
    return count;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    int lane = threadIdx.x % 32;
    for (long long row = first_row(); row < rows; row += row_step()) {
        int value = in[row * 32 + lane];
        int before = count_before(value, true, lane), count = count_before(value, true, 32);
        store_compacted(out, row, value, before, count);
        if (lane == 0)
            sizes[row] = count;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    group(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    int lane = threadIdx.x % 32;
    for (long long row = first_row(); row < rows; row += row_step()) {
        int before = count_before(in[row * 32 + lane], false, lane);
        int distinct = count_before(before == 0, true, 32);
        out[row * 32 + lane] = before;
        if (lane == 0)
            sizes[row] = distinct;
    }
}
