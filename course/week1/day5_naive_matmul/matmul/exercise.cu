// matmul: c = a * b. a has m rows and k columns, b has k rows and n columns, c has m rows and n
// columns; all lie row by row. A block has 16 x 16 threads, one for each element of c.
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    // TODO: this is only the first of the k products that row i of a and column j of b give.
    c[i * n + j] = a[i * k] * b[j];
}
