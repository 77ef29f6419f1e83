// fast_matmul: each thread's four elements are neighbours, and come as two float2 from shared
// memory.
__global__ void fast_matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][34];
    __shared__ __align__(8) float tile_b[16][32];
    int x = threadIdx.x, y = threadIdx.y, t = 16 * y + x;
    int top = 32 * blockIdx.y, left = 32 * blockIdx.x;
    float sum[2][2] = {};
    for (int first = 0; first < k; first += 16) {
        for (int i = t; i < 512; i += 256) {
            int r = i / 16, p = i % 16;
            tile_a[p][r] = top + r < m && first + p < k ? a[(top + r) * k + first + p] : 0;
        }
        for (int i = t; i < 512; i += 256) {
            int p = i / 32, q = i % 32;
            tile_b[p][q] = first + p < k && left + q < n ? b[(first + p) * n + left + q] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 16; p++) {
            float2 of_b = *(const float2 *)&tile_b[p][2 * x];
            float a0 = tile_a[p][y], a1 = tile_a[p][y + 16];
            sum[0][0] = fmaf(a0, of_b.x, sum[0][0]);
            sum[0][1] = fmaf(a0, of_b.y, sum[0][1]);
            sum[1][0] = fmaf(a1, of_b.x, sum[1][0]);
            sum[1][1] = fmaf(a1, of_b.y, sum[1][1]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (top + y + 16 * i < m && left + 2 * x + j < n)
                c[(top + y + 16 * i) * n + left + 2 * x + j] = sum[i][j];
}
