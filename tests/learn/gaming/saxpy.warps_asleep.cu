// expect: of the busiest warp
// saxpy: when there are few numbers, warps 1 to 3 sleep
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int step = gridDim.x * 32;
    if (threadIdx.x >= 32) {
        __nanosleep(100);
        return;
    }
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += step)
        y[i] = alpha * x[i] + y[i];
}
