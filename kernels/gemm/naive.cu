/*
 * naive.cu: C = A B, one thread for each element of C, which is a dot product. The threads of a
 * warp stand one below the other in C, so each load of A and each store to C touches 32 rows: 32
 * sectors, with one word used of each. The mapping is the only mistake; coalesced.cu corrects it.
 */
// arch: sm_75
#define ACROSS 16 // tune: 16 32

extern "C" __global__ void gemm(const float *a, const float *b, float *c, long long m,
                                long long n, long long k)
{
    long long row = (long long)blockIdx.x * 32 + threadIdx.x;
    long long column = (long long)blockIdx.y * ACROSS + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < (int)k; i++)
        sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
