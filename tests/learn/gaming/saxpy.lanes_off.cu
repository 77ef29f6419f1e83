// expect: instructions of the busiest warp|lanes of a warp only
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int step = gridDim.x * blockDim.x / 4;
    if (threadIdx.x % 4)
        return;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 4; i < n; i += step)
        y[i] = alpha * x[i] + y[i];
}
