// Divides by the number of warps in place of the threads of a warp.
__global__ void who(int *block, int *warp, int *lane, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    block[i] = blockIdx.x;
    warp[i] = threadIdx.x / 3;
    lane[i] = threadIdx.x % 32;
}
