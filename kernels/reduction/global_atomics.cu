/*
 * global_atomics.cu: every thread adds its number to the one result in memory. The simplest kernel
 * that is right, and the slowest: all threads queue for one address.
 */
// arch: sm_75

extern "C" __global__ void start(float *result)
{
    *result = 0;
}

extern "C" __global__ void reduce(const float *in, long long n, float *result)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(result, in[i]);
}
