/*
 * global_atomics.cu: every thread adds one to the counter of its element's bin, in memory: the
 * simplest kernel that is right. The atomics of all SMs meet in the L2; with few bins, or skewed
 * data, they queue for the same few addresses.
 *
 * x in [0, 1) counts in bin (int)(x * bins); anything else, NaN included, does not count.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void count(const float *in, long long n, unsigned bins, unsigned *counts)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    if (x >= 0 && x < 1)
        atomicAdd(&counts[(unsigned)(x * bins)], 1);
}
