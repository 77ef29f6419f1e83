// Goes along a row of b, where it should go down a column.
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[i * k + p] * b[j * k + p];
    c[i * n + j] = sum;
}
