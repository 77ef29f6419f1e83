// own_bank: counts[b][v] = how often v occurs among the 1024 numbers of block b. Numbers are 0 .. 63.
//
// A block is one warp. Here it has one histogram of 64 bins in shared memory, and its lanes add to it with
// atomics: lanes with the same number wait for each other, and so do lanes whose bins share a bank.
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[64];
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    for (int v = lane; v < 64; v += 32)
        bins[v] = 0;
    __syncthreads();
    // TODO: a histogram for each lane, laid out so that lane l only ever touches bank l.
    for (int k = lane; k < 1024; k += 32)
        if (first + k < n)
            atomicAdd(&bins[x[first + k]], 1u);
    __syncthreads();
    for (int v = lane; v < 64; v += 32)
        counts[blockIdx.x * 64 + v] = bins[v];
}
