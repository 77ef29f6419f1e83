// Forgets the threads past the end.
__global__ void who(int *block, int *warp, int *lane, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    block[i] = blockIdx.x;
    warp[i] = threadIdx.x / 32;
    lane[i] = threadIdx.x % 32;
}
