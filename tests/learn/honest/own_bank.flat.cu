__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    __shared__ unsigned bins[64 * 33];
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    for (int v = 0; v < 64; v++)
        bins[v * 32 + lane] = 0;
    for (int k = 0; k < 32; k++) {
        int i = first + 32 * k + lane;
        if (i < n) {
            unsigned *b = bins + x[i] * 32 + lane;
            *b = *b + 1;
        }
    }
    __syncthreads();
    for (int v = lane; v < 64; v += 32) {
        unsigned sum = 0;
        for (int k = 0; k < 32; k++)
            sum += bins[v * 32 + (k ^ lane)];
        counts[blockIdx.x * 64 + v] = sum;
    }
}
