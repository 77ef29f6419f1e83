// A histogram for each lane, one behind the other: two lanes with numbers of one bank still meet.
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[32][64]; // [number][lane]
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    for (int v = 0; v < 64; v++)
        bins[lane][v] = 0;
    for (int k = lane; k < 1024; k += 32)
        if (first + k < n)
            bins[lane][x[first + k]]++;
    __syncthreads();
    for (int v = lane; v < 64; v += 32) {
        unsigned sum = 0;
        for (int k = 0; k < 32; k++)
            sum += bins[(lane + k) % 32][v]; // each lane begins in its own bank
        counts[blockIdx.x * 64 + v] = sum;
    }
}
