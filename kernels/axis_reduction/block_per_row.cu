/*
 * block_per_row.cu: a whole block for each row: with long rows and fewer of them than there are
 * warps, more threads have something to do, at the price of a barrier for each row. Rows only.
 */
// arch: sm_75
#include "sums.h"

#define BLOCK 256 // tune: 64 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduce(const float *in, long long length, float *out)
{
    const float *at = in + (long long)blockIdx.x * length;
    float sum = 0;
    for (long long k = threadIdx.x; k < length; k += BLOCK)
        sum += at[k];
    sum = sum_block(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
