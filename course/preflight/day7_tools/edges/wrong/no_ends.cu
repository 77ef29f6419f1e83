// Leaves the ends out altogether.
__global__ void edges(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1)
        return;
    float left = i > 0 ? x[i - 1] : 0;
    float right = i < n - 1 ? x[i + 1] : 0;
    y[i] = (left + x[i] + right) / 3;
}
