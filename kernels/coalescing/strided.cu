/*
 * strided.cu: out[i] = in[i * k], which is also what reading one field of an array of structures
 * does. A warp's 32 words are spread over k times as many sectors, up to one per lane, and the rest
 * of each sector is thrown away. No kernel can avoid that, because memory moves whole sectors: only
 * a different layout of the data helps (soa.cu).
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = in[i * k];
}
