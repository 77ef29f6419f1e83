/*
 * warp_shuffle.cu: within a warp the tree needs no shared memory: lanes read each other's registers.
 * Shared memory holds one sum per warp, and the block waits once instead of eight times. A second
 * pass of one block adds up what the blocks leave in out.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16

// Lane 0 gets the sum of all 32.
static __device__ float warp_sum(float sum)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lanes);
    return sum;
}

extern "C" __global__ void reduce(const float *in, long long n, float *out)
{
    __shared__ float of_warp[BLOCK / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0;
#pragma unroll 1 // one load in flight: vectorised.cu shows what several are worth
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < BLOCK / 32 ? of_warp[lane] : 0);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}
