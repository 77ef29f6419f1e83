// Fixes the left end only.
__global__ void edges(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float left = i > 0 ? x[i - 1] : 0;
    float right = x[i + 1] * (i < n - 1);
    y[i] = (left + x[i] + right) / 3;
}
