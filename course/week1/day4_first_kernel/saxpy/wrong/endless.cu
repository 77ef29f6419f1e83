// Counts the grid in warps, wrongly: the step is 0, and the loop does not end.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int step = gridDim.x * blockDim.x / 1024;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = alpha * x[i] + y[i];
}
