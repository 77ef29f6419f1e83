/*
 * scalar.cu: one thread for each row. Neighbouring lanes read from places a row's length apart, so
 * one load of a warp touches up to 32 sectors, and a warp is as slow as its longest row.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, float *y)
{
    long long row = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
#pragma unroll 4 // rows are short
    for (int j = offsets[row]; j < offsets[row + 1]; j++)
        sum = fmaf(values[j], x[columns[j]], sum);
    y[row] = sum;
}
