template <int U> __device__ float dot(const float *a, const float *b, int n, int k)
{
    float s0 = 0, s1 = 0;
    int p = 0;
    for (; p + U <= k; p += U)
#pragma unroll
        for (int u = 0; u < U; u += 2) {
            s0 += __ldg(a + p + u) * __ldg(b + (p + u) * n);
            s1 += __ldg(a + p + u + 1) * __ldg(b + (p + u + 1) * n);
        }
    for (; p < k; p++)
        s0 += a[p] * b[p * n];
    return s0 + s1;
}
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    unsigned col = blockIdx.x * blockDim.x + threadIdx.x,
             row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < (unsigned)m && col < (unsigned)n)
        c[row * n + col] = dot<4>(a + row * k, b + col, n, k);
}
