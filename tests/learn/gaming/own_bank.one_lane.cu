// expect: global_load_requests is 4096, at most 128
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[64];
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    bins[lane] = bins[lane + 32] = 0;
    __syncthreads();
    if (lane == 0)
        for (int k = 0; k < 1024 && first + k < n; k++)
            bins[x[first + k]]++;
    __syncthreads();
    counts[blockIdx.x * 64 + lane] = bins[lane];
    counts[blockIdx.x * 64 + lane + 32] = bins[lane + 32];
}
