// The last block has more threads than there are rows.
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[i * k + p] * x[p];
        y[i] = sum;
    }
}
