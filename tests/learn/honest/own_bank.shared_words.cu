// own_bank: flat array, the sum of a bin by a loop that begins in another bank for each lane.
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[64 * 32];
    const int lane = threadIdx.x, first = blockIdx.x << 10;
#pragma unroll 8
    for (int v = 0; v < 64; v++)
        bins[v * 32 + lane] = 0;
    __syncwarp();
    const int last = min(first + 1024, n);
    for (int k = first + lane; k < last; k += 32)
        bins[x[k] * 32 + lane] += 1;
    __syncwarp();
    for (int half = 0; half < 2; half++) {
        int v = lane + 32 * half;
        unsigned sum = 0;
        for (int k = 0; k < 32; k++)
            sum += bins[v * 32 + ((k + lane) & 31)];
        counts[blockIdx.x * 64 + v] = sum;
    }
}
