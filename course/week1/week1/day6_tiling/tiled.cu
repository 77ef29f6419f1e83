// tiled: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row in memory.
//
// A block has 16 x 16 threads and makes a square of 16 x 16 elements of c. The result is right, and
// every access is coalesced. But the 16 threads of a row all ask for the same row of a, and the 16
// threads of a column for the same column of b.
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    float sum = 0;
    // TODO: go through k in steps of 16. In each step, load a tile of a and a tile of b into shared
    // memory, one element of each for every thread, and let all threads use all of it. Where a tile
    // hangs over the edge, put 0.
    if (row < m && col < n)
        for (int p = 0; p < k; p++)
            sum += a[row * k + p] * b[p * n + col];
    if (row < m && col < n)
        c[row * n + col] = sum;
}
