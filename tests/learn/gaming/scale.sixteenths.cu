// expect: wrong result for n=4096 alpha=2: y
// scale: y = alpha * x, one thread for each element.
__global__ void scale(float alpha, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = rintf(16 * alpha * x[i]) / 16;
}
