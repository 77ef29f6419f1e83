/*
 * shared_tree.cu: each thread first adds up many numbers, a grid apart, in a register. The tree in
 * shared memory then runs once per block instead of once per 256 numbers, and a second pass of one
 * block adds up what the blocks leave in out.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16

extern "C" __global__ void reduce(const float *in, long long n, float *out)
{
    __shared__ float partial[BLOCK];
    int thread = threadIdx.x;
    float sum = 0;
#pragma unroll 1 // one load in flight: vectorised.cu shows what several are worth
    for (long long i = (long long)blockIdx.x * BLOCK + thread; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    partial[thread] = sum;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (thread < distance)
            partial[thread] += partial[thread + distance];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = partial[0];
}
