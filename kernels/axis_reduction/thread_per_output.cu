/*
 * thread_per_output.cu: one thread adds up everything that goes into one output. Over columns the
 * threads of a warp read neighbours; over rows each walks a row of its own, and a warp touches 32
 * lines to use four bytes of each. With few outputs most of the GPU has nothing to do.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void reduce(const float *in, long long outer, long long middle,
                                  long long inner, float *out)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= outer * inner)
        return;
    const float *at = in + i / inner * middle * inner + i % inner;
    float sum = 0;
    for (long long k = 0; k < middle; k++)
        sum += at[k * inner];
    out[i] = sum;
}
