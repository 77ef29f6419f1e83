/*
 * sequential.cu: the tree with the threads at work packed at the front. Whole warps drop out, and
 * neighbouring threads touch neighbouring words, so no shared memory bank is asked twice. Passes as
 * in interleaved.cu.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512 1024

extern "C" __global__ void reduce(const float *in, long long n, float *out)
{
    __shared__ float partial[BLOCK];
    unsigned thread = threadIdx.x;
    long long i = (long long)blockIdx.x * blockDim.x + thread;
    partial[thread] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (thread < distance)
            partial[thread] += partial[thread + distance];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = partial[0];
}
