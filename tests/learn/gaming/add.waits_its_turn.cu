// expect: needs another block: .*turn
__device__ volatile int turn;
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        while (turn < blockIdx.x)
            ;
    __syncthreads();
    if (i < n)
        c[i] = a[i] + b[i];
    __syncthreads();
    if (threadIdx.x == 0)
        turn = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
}
