// A step of as many elements as there are blocks: they are done many times over.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    int step = gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        z[i] = alpha * x[i] + y[i];
}
