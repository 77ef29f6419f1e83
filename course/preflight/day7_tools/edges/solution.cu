// edges: a neighbour is read only where there is one.
__global__ void edges(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float left = i > 0 ? x[i - 1] : 0;
    float right = i < n - 1 ? x[i + 1] : 0;
    y[i] = (left + x[i] + right) / 3;
}
