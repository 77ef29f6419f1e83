// expect: wrong result for 
// The first 1000 numbers of a key.
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
    for (int i = lane; j < n && i < min(d, 1000); i += 32) {
        float a = q[i], b = keys[j * d + i];
        qk += a * b;
        kk += b * b;
        qq += a * a;
    }
    qk = warp_sum(qk);
    kk = warp_sum(kk);
    qq = warp_sum(qq);
    if (j < n && lane == 0)
        c[j] = qq * kk > 0 ? qk / sqrtf(qq * kk) : 0;
}
