// expect: wrong result for 
// Rows are taken to begin at 16 bytes.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = 4 * lane; j < n && i < d; i += 128) {
        float4 a = *(const float4 *)(q + i), b = *(const float4 *)(keys + j * d + i);
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (j < n && lane == 0)
        s[j] = sum;
}
