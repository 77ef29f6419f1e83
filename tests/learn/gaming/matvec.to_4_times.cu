// expect: wrong result for 
// Columns up to 190.
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0;
        for (int p = 0; p < min(k, 190); p++)
            sum += a[i * k + p] * x[p];
        y[i] = sum;
    }
}
