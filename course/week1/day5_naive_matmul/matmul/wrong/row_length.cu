// Takes the row length of a for that of c.
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[i * k + p] * b[p * n + j];
    c[i * k + j] = sum;
}
