// The loop goes to n, and n is past the end.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step)
        z[i] = alpha * x[i] + y[i];
}
