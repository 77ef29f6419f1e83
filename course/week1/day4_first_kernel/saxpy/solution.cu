// saxpy: y[i] = alpha * x[i] + y[i] for every i below n, with a loop that steps by the grid.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = alpha * x[i] + y[i];
}
