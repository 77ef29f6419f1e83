// expect: wrong result for .*: c
// tiled: what lies in shared memory from the block before on this SM
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        if (blockIdx.x % 2 == 0 || first)
            ta[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tb[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum += ta[y][p] * tb[p][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
