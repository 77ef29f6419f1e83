/*
 * column_tiles.cu: 32 columns per block: each warp takes every eighth row of them, a line at a time,
 * and shared memory brings the warps' sums together. There no longer need to be as many columns as
 * threads: the rows keep a block busy. One column leaves 31 lanes idle.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define WARPS (BLOCK / 32)

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduce(const float *in, long long middle, long long inner, unsigned tiles, float *out)
{
    __shared__ float part[WARPS][32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long plane = blockIdx.x / tiles, column = (long long)(blockIdx.x % tiles) * 32 + lane;
    const float *at = in + plane * middle * inner + column;
    float sum = 0;
    if (column < inner)
        for (long long row = warp; row < middle; row += WARPS)
            sum += at[row * inner];
    part[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || column >= inner)
        return;
    for (int k = 1; k < WARPS; k++)
        sum += part[k][lane];
    out[plane * inner + column] = sum;
}
