// cosine: c[j] = q . k / (|q| |k|) for every key k, and 0 where one of the two is zero.
//
// A warp has one key. It goes over q and the key three times: for the product, for |k| and for |q|.
__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}

__global__ void cosine(const float *q, const float *keys, float *c, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float qk = 0, kk = 0, qq = 0;
    // TODO: one loop is enough. And what if |q| or |k| is 0?
    for (int i = lane; j < n && i < d; i += 32)
        qk += q[i] * keys[j * d + i];
    __syncthreads(); // keeps the compiler from joining the loops for you
    for (int i = lane; j < n && i < d; i += 32)
        kk += keys[j * d + i] * keys[j * d + i];
    __syncthreads();
    for (int i = lane; j < n && i < d; i += 32)
        qq += q[i] * q[i];
    qk = warp_sum(qk);
    kk = warp_sum(kk);
    qq = warp_sum(qq);
    if (j < n && lane == 0)
        c[j] = qk / sqrtf(qq * kk);
}
