/*
 * vector.cu: one warp for each row. Lanes read neighbouring nonzeros, and a long row no longer
 * holds up 31 others; but a row shorter than 32 leaves lanes idle, and each row costs five
 * shuffles.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, float *y)
{
    long long row = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;
    if (row >= rows)
        return;
    int lane = threadIdx.x % 32, end = offsets[row + 1];
    float sum = 0;
    for (long long j = (long long)offsets[row] + lane; j < end; j += 32)
        sum = fmaf(values[j], x[columns[j]], sum);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lanes);
    if (lane == 0)
        y[row] = sum;
}
