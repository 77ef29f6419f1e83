// coalesced: c = a * b as before. a has m x k elements, b has k x n, c has m x n.
//
// A block has 32 x 32 threads and makes a square of 32 x 32 elements of c. The result is right. But
// threadIdx.x is what changes from lane to lane, and here it counts rows.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    // TODO: let the lanes of a warp have neighbouring columns of one row.
    int row = blockIdx.y * 32 + threadIdx.x;
    int col = blockIdx.x * 32 + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
