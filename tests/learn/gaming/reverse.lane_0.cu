// expect: Of the 32 lanes of a warp only
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0)
        for (int j = i; j < i + 32 && j < n; j++)
            y[j] = x[n - 1 - j];
}
