// expect: atomics; the solution has none
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float sum;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&sum, x[i] * y[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        s[blockIdx.x] = sum;
}
