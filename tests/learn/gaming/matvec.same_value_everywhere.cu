// expect: several writers: 
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[i * k + p] * x[p];
        y[i] = sum;
    }
}
