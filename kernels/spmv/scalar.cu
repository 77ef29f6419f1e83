/*
 * scalar.cu: one thread for each row. Neighbouring lanes read from places a row's length apart, so
 * one load of a warp touches up to 32 sectors, and a warp is as slow as its longest row.
 */
// arch: sm_75
#include "device.h" // keep
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, float *y)
{
    long long row = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    // keep: or the compiler puts a loop before this one for what four do not divide, which has no
    // loads in flight together.
    for (int j = offsets[row], end = offsets[row + 1]; j < end; j = keep(j + 1))
        sum = fmaf(values[j], x[columns[j]], sum);
    y[row] = sum;
}
