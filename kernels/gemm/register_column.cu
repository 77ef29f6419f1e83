/*
 * register_column.cu: each thread makes TM elements of C, one below the other, and keeps them in
 * registers. An element of B read from shared memory now serves TM multiplications: TM + 1 loads
 * for TM multiplications instead of 2 TM.
 */
// arch: sm_75
#define BM 64 // tune: 32 64 128
#define BN 64 // tune: 32 64 128
#define BK 8 // tune: 8 16 32
#define TM 8 // tune: 4 8 16
#define THREADS (BM / TM * BN)
#define A_STEP (THREADS / BK) // rows of A's tile that all threads load together
#define B_STEP (THREADS / BN)
#define RESIDENT (THREADS < 1024 ? 1024 / THREADS : 1) // blocks on an SM, at 64 registers a thread

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    __shared__ float a_tile[BM][BK], b_tile[BK][BN];
    int x = threadIdx.x % BN, y = threadIdx.x / BN * TM; // of its elements of C, in the block's
    int a_row = threadIdx.x / BK, a_col = threadIdx.x % BK, b_row = threadIdx.x / BN;
    long long row0 = (long long)blockIdx.x * BM, col = (long long)blockIdx.y * BN + x;
    const float *from_a = a + (row0 + a_row) * k + a_col, *from_b = b + b_row * n + col;
    int rows = min(m - row0, (long long)BM); // inside C
    float sum[TM] = {};

    for (long long left = k; left > 0; left -= BK, from_a += BK, from_b += BK * n) {
        /* Fill the tiles, with zeros outside the matrices. */
#pragma unroll
        for (int i = 0; i < BM; i += A_STEP)
            if (BM % A_STEP == 0 || a_row + i < BM)
                a_tile[a_row + i][a_col] =
                    a_row + i < rows && a_col < left ? from_a[i * k] : 0.0f;
#pragma unroll
        for (int i = 0; i < BK; i += B_STEP)
            if (BK % B_STEP == 0 || b_row + i < BK)
                b_tile[b_row + i][x] = b_row + i < left && col < n ? from_b[i * n] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int l = 0; l < BK; l++) {
            float of_b = b_tile[l][x];
#pragma unroll
            for (int t = 0; t < TM; t++)
                sum[t] = fmaf(a_tile[y + t][l], of_b, sum[t]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int t = 0; t < TM; t++)
        if (y + t < rows && col < n)
            c[(row0 + y + t) * n + col] = sum[t];
}
