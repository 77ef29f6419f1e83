// Four neighbours for each thread, one by one: as many requests as before, and each touches 16
// sectors.
__global__ void wide(float alpha, const float *x, float *y, int n)
{
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    for (int k = i; k < i + 4 && k < n; k++)
        y[k] = alpha * x[k] + y[k];
}
