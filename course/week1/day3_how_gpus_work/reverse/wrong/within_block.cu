// Turned within each block, and the blocks stay where they are.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x];
}
