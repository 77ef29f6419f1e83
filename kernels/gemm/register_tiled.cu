/*
 * register_tiled.cu: C = A B for f32 matrices by rows: A is m x k, B is k x n, C is m x n.
 *
 * A block makes a tile of BM x BN elements of C. It walks along k in steps of BK, and for each step
 * holds a BM x BK tile of A and a BK x BN tile of B in shared memory. Each thread makes TM x TN of
 * the elements, in registers: for every k it reads TM words of A and TN words of B and does TM * TN
 * multiplications with them. With 8 x 8 that is 16 loads for 64 multiplications; a thread with a
 * column of 8 elements (register_column.cu) needs 72.
 *
 * Launch: grid (ceil(m / BM), ceil(n / BN)), blocks of THREADS threads.
 */
// arch: sm_75
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define THREADS_DOWN (BM / TM)   // 16
#define THREADS_ACROSS (BN / TN) // 16
#define THREADS (THREADS_DOWN * THREADS_ACROSS)
#define RESIDENT (THREADS < 512 ? 512 / THREADS : 1) // blocks on an SM, at 128 registers a thread

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    __shared__ float a_tile[BM][BK], b_tile[BK][BN];
    long long row0 = (long long)blockIdx.x * BM, col0 = (long long)blockIdx.y * BN;
    int rows = min(m - row0, (long long)BM), cols = min(n - col0, (long long)BN); // inside C

    /* What the thread loads: one column of A's tile and one of B's, at a fixed distance. Threads
     * with neighbouring numbers load neighbouring words. */
    int a_row = threadIdx.x / BK, a_col = threadIdx.x % BK;
    int b_row = threadIdx.x / BN, b_col = threadIdx.x % BN;
    const float *a_from = a + (row0 + a_row) * k + a_col;
    const float *b_from = b + b_row * n + col0 + b_col;

    /* What it computes: the rows and columns that lie THREADS_DOWN and THREADS_ACROSS apart,
     * beginning at (y, x). Threads with neighbouring numbers read neighbouring words of B's tile
     * and the same words of A's: no bank conflicts. */
    int y = threadIdx.x / THREADS_ACROSS, x = threadIdx.x % THREADS_ACROSS;
    float sum[TM][TN] = {};

    for (long long left = k; left > 0; left -= BK, a_from += BK, b_from += BK * n) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / BK) {
            bool inside = a_row + i < rows && a_col < left;
            a_tile[a_row + i][a_col] = inside ? a_from[i * k] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < BK; i += THREADS / BN) {
            bool inside = b_row + i < left && b_col < cols;
            b_tile[b_row + i][b_col] = inside ? b_from[i * n] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int l = 0; l < BK; l++) {
            float of_a[TM], of_b[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                of_a[i] = a_tile[y + i * THREADS_DOWN][l];
#pragma unroll
            for (int j = 0; j < TN; j++)
                of_b[j] = b_tile[l][x + j * THREADS_ACROSS];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] = fmaf(of_a[i], of_b[j], sum[i][j]);
        }
        __syncthreads(); // before the tiles are overwritten
    }

#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int row = y + i * THREADS_DOWN, col = x + j * THREADS_ACROSS;
            if (row < rows && col < cols)
                c[(row0 + row) * n + col0 + col] = sum[i][j];
        }
}
