/*
 * recompute.cu: for short inputs: one launch, and no block tells another anything. Each block
 * counts by itself what is kept before its tile, from the L2, then packs the tile. More reads, but
 * nobody waits.
 */
// arch: sm_75
#include "select_rows.h" // load4, kept_of_four, keep_row, write_kept, warp_sum
#define BLOCK 1024 // tune: 256 512 1024
#define AHEAD 4 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define TILE ((long long)BLOCK * 4)

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const float *in, long long n, float threshold, float *out, long long *total)
{
    __shared__ float kept[WARPS][128];
    __shared__ unsigned seen_by[WARPS], kept_by[WARPS];
    unsigned thread = threadIdx.x, warp = thread / 32, lane = thread % 32, seen = 0;
    long long start = blockIdx.x * TILE, at = start + thread * 4;
    bool aligned = (size_t)in % 16 == 0;
    float4 v = load4(in + at, n - at, aligned);

    // Everything before the tile, AHEAD loads of each thread in flight.
    for (long long i = thread * 4; i < start; i += AHEAD * TILE) {
        float4 x[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            x[k] = load4(in + i + k * TILE, start - (i + k * TILE), aligned);
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            seen += __popc(kept_of_four(x[k], start - (i + k * TILE), threshold));
    }
    unsigned count = keep_row(v, kept_of_four(v, n - at, threshold), kept[warp], 0);
    seen = warp_sum(seen);
    if (lane == 0) {
        seen_by[warp] = seen;
        kept_by[warp] = count;
    }
    __syncthreads();
    unsigned here = lane < WARPS ? kept_by[lane] : 0, before = lane < WARPS ? seen_by[lane] : 0;
    unsigned first = warp_sum(before + (lane < warp ? here : 0)), all = warp_sum(before + here);
    write_kept(kept[warp], count, out + first);
    if (thread == 0 && blockIdx.x == gridDim.x - 1)
        *total = all;
}
