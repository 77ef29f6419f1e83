__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x & 31, j = blockIdx.x * 8 + (threadIdx.x >> 5);
    if (j >= n)
        return;
    const float *key = keys + (long)j * d;
    float even = 0, odd = 0;
    int i = lane;
    for (; i + 32 < d; i += 64) {
        even += q[i] * key[i];
        odd += q[i + 32] * key[i + 32];
    }
    if (i < d)
        even += q[i] * key[i];
    even += odd;
    for (int o = 1; o < 32; o *= 2)
        even += __shfl_xor_sync(0xffffffff, even, o);
    if (!lane)
        s[j] = even;
}
