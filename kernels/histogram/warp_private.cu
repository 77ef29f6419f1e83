/*
 * warp_private.cu: a copy of the counters for each warp, or for as many groups of warps as shared
 * memory has room for, so that warps no longer meet at a counter. The lanes of one warp still do,
 * and large copies leave room for fewer blocks. Bins are counted in ranges, as in
 * shared_private.cu.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define SHARED_KB 48 // tune: 16 32 48 64
#define NO_BIN 0xffffffffu

extern "C" __global__ void __launch_bounds__(BLOCK)
    count(const float *in, long long n, unsigned bins, unsigned range, unsigned copies,
          unsigned *counts)
{
    extern __shared__ unsigned counters[]; // [copies][here]
    unsigned first = blockIdx.y * range, here = min(range, bins - first);
    unsigned *mine = counters + threadIdx.x / 32 % copies * here;
    for (unsigned i = threadIdx.x; i < copies * here; i += BLOCK)
        counters[i] = 0;
    __syncthreads();

    long long all_threads = (long long)gridDim.x * BLOCK;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n; i += all_threads) {
        float x = in[i];
        unsigned bin = x >= 0 && x < 1 ? (unsigned)(x * bins) - first : NO_BIN;
        if (bin < here)
            atomicAdd(&mine[bin], 1);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < here; bin += BLOCK) {
        unsigned sum = 0;
        for (unsigned copy = 0; copy < copies; copy++)
            sum += counters[copy * here + bin];
        if (sum > 0)
            atomicAdd(&counts[first + bin], sum);
    }
}
