/*
 * shared_private.cu: every block counts in a private copy of the counters in shared memory, where
 * an atomic takes a few cycles, and adds the copy to the result once, at the end. Lanes that hit
 * the same bank still wait for each other, and skewed data makes all of them do so.
 *
 * Bins that do not fit in shared memory at once are counted in ranges: the blocks of row y count
 * the bins from y * range on, in a pass of their own over the input.
 */
// arch: sm_75
#define BLOCK 512 // tune: 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define NO_BIN 0xffffffffu

extern "C" __global__ void __launch_bounds__(BLOCK)
    count(const float *in, long long n, unsigned bins, unsigned range, unsigned *counts)
{
    extern __shared__ unsigned counters[]; // [here]
    unsigned first = blockIdx.y * range, here = min(range, bins - first);
    for (unsigned i = threadIdx.x; i < here; i += BLOCK)
        counters[i] = 0;
    __syncthreads();

    long long all_threads = (long long)gridDim.x * BLOCK;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n; i += all_threads) {
        float x = in[i];
        unsigned bin = x >= 0 && x < 1 ? (unsigned)(x * bins) - first : NO_BIN;
        if (bin < here)
            atomicAdd(&counters[bin], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < here; i += BLOCK)
        if (counters[i] > 0)
            atomicAdd(&counts[first + i], counters[i]);
}
