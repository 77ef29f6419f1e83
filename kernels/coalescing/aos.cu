/*
 * aos.cu: all k fields of an array of structures go to k arrays. Each thread has one structure and
 * reads its fields one after another: k requests with a stride of k, all of which touch the same
 * sectors. Only the L1 saves the day, as long as those sectors stay in it.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        for (long long field = 0; field < k; field++)
            out[field * n + i] = in[i * k + field];
}
