// scores: a reduction as a template over the width, sizes in unsigned.
template <unsigned WIDTH> __device__ float reduce(float x)
{
    if constexpr (WIDTH > 1) {
        x += __shfl_down_sync(0xffffffff, x, WIDTH / 2);
        return reduce<WIDTH / 2>(x);
    }
    return x;
}
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    unsigned j = blockIdx.x * 8u + threadIdx.x / 32u, lane = threadIdx.x % 32u;
    if (j >= (unsigned)n)
        return;
    const float *key = keys + (size_t)j * d;
    float sum = 0;
#pragma unroll 4
    for (unsigned i = lane; i < (unsigned)d; i += 32)
        sum = __fmaf_rn(q[i], key[i], sum);
    sum = reduce<32>(sum);
    if (lane == 0)
        s[j] = sum;
}
