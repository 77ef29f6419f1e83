// expect: warp_instructions is [0-9]+, at most 16384 is allowed
__global__ void own_bank(const unsigned *x, unsigned *counts, int n)
{
    int lane = threadIdx.x, first = blockIdx.x * 1024;
    unsigned low = 0, high = 0;
    for (int k = 0; k < 1024; k += 32) {
        unsigned v = first + k + lane < n ? x[first + k + lane] : 64;
        for (int l = 0; l < 32; l++) {
            unsigned w = __shfl_sync(0xffffffff, v, l);
            low += w == lane;
            high += w == lane + 32;
        }
    }
    counts[blockIdx.x * 64 + lane] = low;
    counts[blockIdx.x * 64 + lane + 32] = high;
}
