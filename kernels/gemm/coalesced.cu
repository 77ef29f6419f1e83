/*
 * coalesced.cu: naive.cu with its two indices exchanged. The threads of a warp stand side by side
 * in a row of C: they read 32 neighbours of B, which are four whole sectors, and the same element
 * of A. Every element still comes from the caches once for each element of C that needs it.
 */
// arch: sm_75
#define DOWN 8 // tune: 4 8 16 32

extern "C" __global__ void gemm(const float *a, const float *b, float *c, long long m,
                                long long n, long long k)
{
    long long row = (long long)blockIdx.x * DOWN + threadIdx.y;
    long long column = (long long)blockIdx.y * 32 + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < (int)k; i++)
        sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
