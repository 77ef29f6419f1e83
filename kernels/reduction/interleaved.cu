/*
 * interleaved.cu: a tree in shared memory in which every second thread works, then every fourth,
 * then every eighth. The threads at work are spread over all warps, so every warp runs through every
 * level with ever fewer active lanes. Each block leaves one partial sum in out; the host launches
 * passes over the partial sums until one is left.
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
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        if (thread % (2 * distance) == 0)
            partial[thread] += partial[thread + distance];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = partial[0];
}
