/*
 * shuffle.cu: registers instead of shared memory: a prefix sum of the flags in five shuffles, and
 * for groups every other element comes by once, in 31.
 */
// arch: sm_75
#include "row.h"

#define BLOCK 256 // tune: 128 256 512

// The sum up to and including this lane.
static __device__ int prefix_sum(int value)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        int below = __shfl_up_sync(0xffffffff, value, distance);
        value += threadIdx.x % 32 >= distance ? below : 0;
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    int lane = threadIdx.x % 32;
    for (long long row = first_row(); row < rows; row += row_step()) {
        int value = in[row * 32 + lane];
        int with = prefix_sum(value != 0), count = __shfl_sync(0xffffffff, with, 31);
        store_compacted(out, row, value, with - (value != 0), count);
        if (lane == 0)
            sizes[row] = count;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    group(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    int lane = threadIdx.x % 32;
    for (long long row = first_row(); row < rows; row += row_step()) {
        int value = in[row * 32 + lane];
        int before = 0;
        for (int distance = 1; distance < 32; distance++) {
            int other = __shfl_up_sync(0xffffffff, value, distance);
            before += lane >= distance && other == value;
        }
        int distinct = prefix_sum(before == 0);
        out[row * 32 + lane] = before;
        if (lane == 31)
            sizes[row] = distinct;
    }
}
