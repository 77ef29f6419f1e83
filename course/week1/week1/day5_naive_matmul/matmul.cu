// matmul: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row in memory.
//
// A block has 16 x 16 threads; the grid has ceil(n / 16) x ceil(m / 16) blocks. Each thread makes
// one element of c: it goes along a row of a and down a column of b. This one takes all matrices
// for squares whose side is a multiple of 16.
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    // TODO: m, n and k differ. How long is a row of each matrix, how many products has a sum, and
    // which threads have no element?
    float sum = 0;
    for (int p = 0; p < n; p++)
        sum += a[row * n + p] * b[p * n + col];
    c[row * n + col] = sum;
}
