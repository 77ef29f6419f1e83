/*
 * shared_tiled.cu: a block of TILE x TILE threads makes as many elements of C. It goes along a row
 * of tiles of A and down a column of tiles of B, keeping one of each in shared memory, so that each
 * element is read from global memory once for TILE uses. The limit is now shared memory itself: two
 * loads for each multiplication.
 */
// arch: sm_75
#define TILE 32 // tune: 16 32

extern "C" __global__ void __launch_bounds__(TILE *TILE)
gemm(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    long long row = (long long)blockIdx.x * TILE + y, column = (long long)blockIdx.y * TILE + x;
    float sum = 0;
    for (long long from = 0; from < k; from += TILE) {
        /* One element of each tile per thread; zeros outside the matrices. */
        a_tile[y][x] = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        b_tile[y][x] = from + y < k && column < n ? b[(from + y) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
