/*
 * soa.cu: the same copy from a structure of arrays. Each field is an array of its own, so a
 * thread's fields lie n apart and every request of a warp is 32 neighbours, whatever k is. A kernel
 * that needs one field reads one field. The layout does what no kernel could.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        for (long long field = 0; field < k; field++)
            out[field * n + i] = in[field * n + i];
}
