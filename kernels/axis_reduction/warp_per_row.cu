/*
 * warp_per_row.cu: the 32 lanes of a warp read 32 neighbours of a row at a time, so that every line
 * is used whole, and add up by shuffles. Rows only. A row shorter than a warp leaves lanes idle.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK) reduce(const float *in, long long rows,
                                                           long long length, float *out)
{
    long long row = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *at = in + row * length;
    float sum = 0;
    for (long long k = lane; k < length; k += 32)
        sum += at[k];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        out[row] = sum;
}
