// expect: wrong result for 
// Counters of 8 bits that saturate.
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[64][32]; // [number][lane]
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    for (int v = 0; v < 64; v++)
        bins[v][lane] = 0;
    for (int k = lane; k < 1024; k += 32)
        if (first + k < n)
            bins[x[first + k]][lane]++;
    __syncthreads();
    for (int v = lane; v < 64; v += 32) {
        unsigned sum = 0;
        for (int k = 0; k < 32; k++)
            sum += bins[v][(lane + k) % 32]; // each lane begins in its own bank
        counts[blockIdx.x * 64 + v] = sum & 0xff;
    }
}
