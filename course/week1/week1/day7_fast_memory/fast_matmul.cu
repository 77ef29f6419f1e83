// fast_matmul: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row.
//
// A block has 16 x 16 threads and makes a square of 32 x 32 elements of c: four for each thread.
// Here it makes four squares of 16 x 16, one by one, each as on day 6. The result is right.
// But each square loads its own tiles, and a product needs two numbers out of shared memory.
__global__ void fast_matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    // TODO: make all four elements at once. Tiles of 32 x 16 and 16 x 32 serve the whole square,
    // and two numbers of a with two of b give four products.
    for (int square = 0; square < 4; square++) {
        int row = blockIdx.y * 32 + square / 2 * 16 + y;
        int col = blockIdx.x * 32 + square % 2 * 16 + x;
        float sum = 0;
        for (int first = 0; first < k; first += 16) {
            tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
            tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
            __syncthreads();
            for (int p = 0; p < 16; p++)
                sum += tile_a[y][p] * tile_b[p][x];
            __syncthreads();
        }
        if (row < m && col < n)
            c[row * n + col] = sum;
    }
}
