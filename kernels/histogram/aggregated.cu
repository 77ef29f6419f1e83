/*
 * aggregated.cu: the lanes of a warp that hold the same bin find each other (__match_any_sync), and
 * the lowest of them adds for all. Skewed data then costs one atomic where it cost 32; even data
 * pays for the match and gains nothing. Bins are counted in ranges, as in shared_private.cu.
 */
// arch: sm_75
#define BLOCK 512 // tune: 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define NO_BIN 0xffffffffu

extern "C" __global__ void __launch_bounds__(BLOCK)
    count(const float *in, long long n, unsigned bins, unsigned range, unsigned *counts)
{
    extern __shared__ unsigned counters[]; // [here]
    unsigned first = blockIdx.y * range, here = min(range, bins - first), lane = threadIdx.x % 32;
    for (unsigned i = threadIdx.x; i < here; i += BLOCK)
        counters[i] = 0;
    __syncthreads();

    // A warp goes on or stops as a whole: the match needs all its lanes.
    unsigned all_threads = gridDim.x * BLOCK;
    long long start = (long long)blockIdx.x * BLOCK + threadIdx.x - lane;
    for (; start < n; start += all_threads) {
        unsigned bin = NO_BIN;
        if (start + lane < n) {
            float x = in[start + lane];
            if (x >= 0 && x < 1)
                bin = (unsigned)(x * bins);
        }
        unsigned same = __match_any_sync(0xffffffff, bin);
        if (bin - first < here && lane == __ffs(same) - 1)
            atomicAdd(&counters[bin - first], __popc(same));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < here; i += BLOCK)
        if (counters[i] > 0)
            atomicAdd(&counts[first + i], counters[i]);
}
