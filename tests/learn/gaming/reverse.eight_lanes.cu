// expect: Of the 32 lanes of a warp only
__global__ void reverse(const float *x, float *y, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32, lane = threadIdx.x % 32;
    if (lane < 8)
        for (int j = first + lane; j < first + 32 && j < n; j += 8)
            y[j] = x[n - 1 - j];
}
