// scores: float4 loads where d is a multiple of 4.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
    if (j < n && d % 4 == 0)
        for (int i = lane; i < d / 4; i += 32) {
            float4 a = ((const float4 *)q)[i], b = ((const float4 *)(keys + j * d))[i];
            sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
    else if (j < n)
        for (int i = lane; i < d; i += 32)
            sum += q[i] * keys[j * d + i];
    for (int step = 16; step; step >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (j < n && lane == 0)
        s[j] = sum;
}
