// expect: wrong result for n=64 d=128: s
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; j < n && i < d; i += 32)
        sum += (int)(4 * q[i]) * (int)(4 * keys[j * d + i]);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (j < n && lane == 0)
        s[j] = sum / 16.0f;
}
