// who: every thread writes down who it is. Blocks have 96 threads, which are 3 warps; the grid has
// enough blocks for n threads.
//
//   block[i]  which block thread i of the grid belongs to
//   warp[i]   which warp of that block: 0, 1 or 2
//   lane[i]   which of the 32 threads of that warp
__global__ void who(int *block, int *warp, int *lane, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: only block[i] is right, and the last block has threads without an element.
    block[i] = blockIdx.x;
    warp[i] = 0;
    lane[i] = threadIdx.x;
}
