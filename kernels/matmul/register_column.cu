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

/* Fills tile[down][across] from a matrix of rows x columns, beginning at (row, column): all threads
 * together, neighbours reading neighbours, zeros outside the matrix. */
template <int down, int across>
static __device__ __forceinline__ void fill_tile(float tile[down][across], const float *matrix,
                                                 long long rows, long long columns, long long row,
                                                 long long column)
{
#pragma unroll
    for (int first = 0; first < down * across; first += THREADS) {
        unsigned i = first + threadIdx.x;
        long long y = row + i / across, x = column + i % across;
        bool inside = y < rows && x < columns;
        if (down * across % THREADS == 0 || i < down * across)
            tile[i / across][i % across] = inside ? matrix[y * columns + x] : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
matmul(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    __shared__ float a_tile[BM][BK], b_tile[BK][BN];
    unsigned x = threadIdx.x % BN, y = threadIdx.x / BN * TM;
    long long row = (long long)blockIdx.x * BM, column = (long long)blockIdx.y * BN;
    float sum[TM] = {};
    for (long long from = 0; from < k; from += BK) {
        fill_tile<BM, BK>(a_tile, a, m, k, row, from);
        fill_tile<BK, BN>(b_tile, b, k, n, from, column);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float right = b_tile[i][x];
#pragma unroll
            for (int t = 0; t < TM; t++)
                sum[t] = fmaf(a_tile[y + t][i], right, sum[t]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int t = 0; t < TM; t++)
        if (row + y + t < m && column + x < n)
            c[(row + y + t) * n + column + x] = sum[t];
}
