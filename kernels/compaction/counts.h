/*
 * counts.h: the first two of the three kernels of block_ranks.cu and ballot_ranks.cu: how many
 * elements each block keeps, and one block's scan of those counts.
 */
#ifndef LOCKSTEP_COMPACTION_COUNTS_H
#define LOCKSTEP_COMPACTION_COUNTS_H

extern "C" __global__ void count_blocks(const float *in, long long n, float threshold,
                                        unsigned *counts)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int kept = __syncthreads_count(i < n && in[i] > threshold);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = kept;
}

// offsets[i] becomes the sum of the counts before i, *total the sum of all. By one block of whole
// warps, blockDim.x counts at a time.
extern "C" __global__ void scan_counts(const unsigned *counts, unsigned blocks, long long *offsets,
                                       long long *total)
{
    __shared__ unsigned warp_total[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long carry = 0;
    for (unsigned start = 0; start < blocks; start += blockDim.x) {
        unsigned i = start + threadIdx.x, mine = i < blocks ? counts[i] : 0, up_to = mine;
        for (unsigned distance = 1; distance < 32; distance *= 2) {
            unsigned below = __shfl_up_sync(0xffffffff, up_to, distance);
            up_to += lane >= distance ? below : 0;
        }
        __syncthreads();
        if (lane == 31)
            warp_total[warp] = up_to;
        __syncthreads();
        long long before = carry;
        for (unsigned other = 0; other < blockDim.x / 32; other++) {
            before += other < warp ? warp_total[other] : 0;
            carry += warp_total[other];
        }
        if (i < blocks)
            offsets[i] = before + up_to - mine;
    }
    if (threadIdx.x == 0)
        *total = carry;
}

#endif
