// expect: wrong result for m=64 n=96 k=64: c
__device__ float cut(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += cut(a[row * k + p]) * cut(b[p * n + col]);
    c[row * n + col] = sum;
}
