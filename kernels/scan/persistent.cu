/*
 * persistent.cu: one pass, 2n bytes, without look-back. The grid stays on the GPU and walks over
 * the input in waves; in each, every block gathers the sums of all blocks (waves.h). The tile of
 * the next wave is summed and announced before this wave's is scanned, so that nobody waits for
 * the L2, and cp.async keeps STAGES tiles on their way from memory. Each thread copies what it
 * will scan itself, so that the data need no barrier; a wave has two, for the sums of warps and of
 * blocks.
 */
// arch: sm_80
#ifndef EACH
#include "waves.h"
#define BLOCK 512 // tune: 256 512 1024
#define ROWS 4 // tune: 2 4 8
#define STAGES 3 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
#define EACH "persistent.cu"
#include "each_type.h"
#else

typedef struct {
    const T *in;
    T *out;
    i64 n;
    T4 *staged; /* [STAGES][ROWS][BLOCK] */
    u64 *slots;
    u32 waves;
    bool aligned, exclusive;
} NAME(work);

/* Where this thread's row begins in the input; past the end for waves that do not exist. */
DEVICE i64 NAME(row_start)(u32 wave, u32 row)
{
    i64 tile = (i64)wave * blocks_x() + block_x();
    return tile * TILE + thread_x() / 32 * WARP_ELEMENTS + row * 128 + thread_x() % 32 * 4;
}

DEVICE void NAME(fetch)(const NAME(work) * work, u32 wave)
{
    T4 *stage = work->staged + wave % STAGES * ROWS * BLOCK + thread_x();
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        i64 at = NAME(row_start)(wave, row), left = work->n - at;
        u32 bytes = left >= 4 ? 16 : left > 0 ? (u32)left * 4 : 0;
        if (work->aligned)
            copy_async_16(stage + row * BLOCK, bytes ? work->in + at : work->in, bytes);
        else
            stage[row * BLOCK] = LOAD4(work->in + at, left, false);
    }
    copy_async_commit();
}

/* Sums of this wave's warps, then of the block: warp_offset[warp] is what comes before the warp.
 * All warps call both halves, with a barrier between. */
DEVICE T NAME(sum_rows)(const NAME(work) * work, u32 wave)
{
    const T4 *stage = work->staged + wave % STAGES * ROWS * BLOCK + thread_x();
    T sum = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        T4 v = stage[row * BLOCK];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    return SUM_WARP(sum);
}

DEVICE void NAME(announce)(const NAME(work) * work, u32 wave, const T *warp_sum, T *warp_offset)
{
    u32 lane = thread_x();
    T mine = lane < WARPS ? warp_sum[lane] : 0;
    T scanned = SCAN_WARP(mine), before = UP(scanned, 1);
    if (lane < WARPS)
        warp_offset[lane] = lane ? before : 0;
    if (lane == 31)
        wave_announce(work->slots, wave, BITS(scanned));
}

DEVICE void NAME(scan_rows)(const NAME(work) * work, u32 wave, T before)
{
    const T4 *stage = work->staged + wave % STAGES * ROWS * BLOCK + thread_x();
    u32 lane = thread_x() % 32;
    T4 v[ROWS];
    T up_to[ROWS];
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        v[row] = stage[row * BLOCK];
        up_to[row] = SCAN_WARP((v[row].x + v[row].y) + (v[row].z + v[row].w));
    }
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        i64 at = NAME(row_start)(wave, row);
        T below = UP(up_to[row], 1);
        T4 scanned = NAME(scan4)(v[row], lane ? before + below : before, work->exclusive);
        STORE4(work->out + at, work->n - at, work->aligned, scanned);
        before += OF_LANE(up_to[row], 31);
    }
}

KERNEL __launch_bounds__(BLOCK) NAME(scan)(const T *in, i64 n, T *out, u64 *slots, i32 exclusive)
{
    DYNAMIC_SHARED(memory);
    __shared__ T warp_sum[2][WARPS], warp_offset[2][WARPS];
    __shared__ T gathered[2][WARPS], gathered_before[2][WARPS];
    u32 thread = thread_x(), warp = thread / 32, blocks = blocks_x();
    i64 tiles = (n + TILE - 1) / TILE;
    NAME(work) work = {in, out, n, (T4 *)memory, slots, (u32)((tiles + blocks - 1) / blocks),
                       is_aligned(in, 16) && is_aligned(out, 16), exclusive != 0};
    T carry = 0; /* of all waves before */

    for (u32 wave = 0; wave < STAGES; wave++)
        NAME(fetch)(&work, wave);
    copy_async_wait(STAGES - 1);
    T sum = NAME(sum_rows)(&work, 0);
    if (thread % 32 == 0)
        warp_sum[0][warp] = sum;
    sync_block();
    if (warp == 0)
        NAME(announce)(&work, 0, warp_sum[0], warp_offset[0]);

    for (u32 wave = 0; wave < work.waves; wave++) {
        u32 now = wave % 2, next = 1 - now;
        copy_async_wait(STAGES - 2);
        sum = NAME(sum_rows)(&work, wave + 1);
        if (thread % 32 == 0)
            warp_sum[next][warp] = sum;
        sync_block();
        if (warp == 0 && wave + 1 < work.waves) /* first tell, then ask */
            NAME(announce)(&work, wave + 1, warp_sum[next], warp_offset[next]);
        T all = 0, before = 0;
        for (u32 block = thread; block < blocks; block += BLOCK) {
            T number = FROM_BITS(wave_wait(slots, wave, block));
            all += number;
            before += block < block_x() ? number : 0;
        }
        all = SUM_WARP(all);
        before = SUM_WARP(before);
        if (thread % 32 == 0) {
            gathered[now][warp] = all;
            gathered_before[now][warp] = before;
        }
        sync_block();
        T start = carry;
        for (u32 other = 0; other < WARPS; other++) {
            start += gathered_before[now][other];
            carry += gathered[now][other];
        }
        NAME(scan_rows)(&work, wave, start + warp_offset[now][warp]);
        NAME(fetch)(&work, wave + STAGES);
    }
    copy_async_wait(0);
}
#endif
