// triad: z = alpha * x + y. The grid walks over the elements in steps of its own length.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        z[i] = alpha * x[i] + y[i];
}
