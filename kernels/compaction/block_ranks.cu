/*
 * block_ranks.cu: three kernels. The first counts what each block keeps, the second scans the
 * counts, and the third finds the rank of each element in its block by a scan of flags in shared
 * memory, and writes. The input is read twice, and each block waits at a barrier in every step of
 * its scan.
 */
// arch: sm_75
#include "counts.h" // count_blocks, scan_counts: the first two kernels
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void write_blocks(const float *in, long long n, float threshold,
                                        const long long *offsets, float *out)
{
    __shared__ unsigned ranks[2][BLOCK]; // a step reads one half and writes the other
    unsigned thread = threadIdx.x, from = 0;
    long long i = (long long)blockIdx.x * BLOCK + thread;
    float mine = i < n ? in[i] : 0;
    bool keep = i < n && mine > threshold;
    ranks[0][thread] = keep;
    __syncthreads();
    for (unsigned distance = 1; distance < BLOCK; distance *= 2) {
        unsigned rank = ranks[from][thread];
        if (thread >= distance)
            rank += ranks[from][thread - distance];
        from = 1 - from;
        ranks[from][thread] = rank;
        __syncthreads();
    }
    if (keep)
        out[offsets[blockIdx.x] + ranks[from][thread] - 1] = mine;
}
