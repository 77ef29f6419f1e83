/*
 * recompute.cu: for short inputs: one launch, and no block tells another anything. Each block adds
 * up all that lies before its tile itself, from the L2, and then scans the tile: more reads, but
 * nobody waits. It ends where the reads take longer than a second launch would.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 1024 // tune: 256 512 1024
#define AHEAD 4 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define TILE ((i64)BLOCK * 4)
#define EACH "recompute.cu"
#include "each_type.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(scan)(const T *in, i64 n, T *out, i32 exclusive)
{
    __shared__ T before_of[WARPS], sum_of[WARPS];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    i64 start = block_x() * TILE, at = start + thread * 4;
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);
    T4 v = LOAD4(in + at, n - at, aligned);
    T before = 0;
    for (i64 i = thread * 4; i < start; i += AHEAD * TILE) {
        T4 x[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            x[k] = LOAD4(in + i + k * TILE, start - (i + k * TILE), aligned);
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            before += (x[k].x + x[k].y) + (x[k].z + x[k].w);
    }
    T up_to = SCAN_WARP((v.x + v.y) + (v.z + v.w)), below = UP(up_to, 1);
    before = SUM_WARP(before);
    if (lane == 31) {
        before_of[warp] = before;
        sum_of[warp] = up_to;
    }
    sync_block();
    T sum = lane < WARPS ? sum_of[lane] : 0;
    before = SUM_WARP((lane < WARPS ? before_of[lane] : 0) + (lane < warp ? sum : 0));
    STORE4(out + at, n - at, aligned,
           NAME(scan4)(v, lane ? before + below : before, exclusive != 0));
}
#endif
