/*
 * ballot_ranks.cu: a ballot tells every lane which lanes keep their elements, so a rank is a count
 * of bits: no scan, and no shared memory but one count for each warp.
 */
// arch: sm_75
#include "counts.h" // count_blocks, scan_counts: the two kernels that run before this one
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void write_blocks(const float *in, long long n, float threshold,
                                        const long long *offsets, float *out)
{
    __shared__ unsigned kept_by[BLOCK / 32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    float mine = i < n ? in[i] : 0;
    bool keep = i < n && mine > threshold;
    unsigned keepers = __ballot_sync(0xffffffff, keep);
    if (lane == 0)
        kept_by[warp] = __popc(keepers);
    __syncthreads();
    long long at = offsets[blockIdx.x] + __popc(keepers & ((1u << lane) - 1));
    for (unsigned other = 0; other < warp; other++)
        at += kept_by[other];
    if (keep)
        out[at] = mine;
}
