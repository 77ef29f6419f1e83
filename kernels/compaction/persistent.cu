/*
 * persistent.cu: one pass in waves (waves.h, as scan/persistent.cu): all blocks stay, each gathers
 * everybody's counts instead of looking back, the next tile is counted and announced before this one
 * is packed, and cp.async keeps STAGES tiles on their way. A warp packs its rows where they lie.
 */
// arch: sm_80
#include "select_rows.h"
#include "waves.h"
#define BLOCK 512 // tune: 256 512 1024
#define ROWS 4 // tune: 2 4 8
#define STAGES 3 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)

typedef struct {
    const f32 *in;
    f32 *out;
    i64 n;
    f32 threshold;
    f32 *staged; /* [STAGES][WARPS][WARP_ELEMENTS] */
    bool aligned;
} work_t;

/* Where this warp's rows of a wave lie, and where they begin in the input. */
DEVICE f32 *warp_stage(const work_t *work, u32 wave)
{
    return work->staged + (wave % STAGES * WARPS + thread_x() / 32) * WARP_ELEMENTS;
}
DEVICE i64 warp_start(u32 wave)
{
    return ((i64)wave * blocks_x() + block_x()) * TILE + thread_x() / 32 * WARP_ELEMENTS;
}

DEVICE void fetch(const work_t *work, u32 wave)
{
    f32 *stage = warp_stage(work, wave) + thread_x() % 32 * 4;
    i64 start = warp_start(wave) + thread_x() % 32 * 4;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        i64 at = start + row * 128, left = work->n - at;
        u32 bytes = left >= 4 ? 16 : left > 0 ? (u32)left * 4 : 0;
        if (work->aligned) {
            copy_async_16(stage + row * 128, bytes ? work->in + at : work->in, bytes);
        } else {
            for (u32 k = 0; k < 4; k++)
                stage[row * 128 + k] = k < left ? work->in[at + k] : 0;
        }
    }
    copy_async_commit();
}

/* How many this warp keeps of a wave. */
DEVICE u32 count_rows(const work_t *work, u32 wave)
{
    const f32 *stage = warp_stage(work, wave) + thread_x() % 32 * 4;
    i64 start = warp_start(wave) + thread_x() % 32 * 4;
    u32 count = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        count += count_bits(kept_of_four(load_f32x4(stage + row * 128),
                                         work->n - (start + row * 128), work->threshold));
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        count += shuffle_xor_u32(count, lanes);
    return count;
}

/* By warp 0: what comes before each warp, and the block's count to everybody. */
DEVICE void announce(u64 *slots, u32 wave, const u32 *kept_by, u32 *warp_offset)
{
    u32 lane = thread_x(), mine = lane < WARPS ? kept_by[lane] : 0, up_to = mine;
    for (u32 lanes = 1; lanes < 32; lanes *= 2) {
        u32 below = shuffle_up_u32(up_to, lanes);
        up_to += lane >= lanes ? below : 0;
    }
    if (lane < WARPS)
        warp_offset[lane] = up_to - mine;
    if (lane == 31)
        wave_announce(slots, wave, up_to);
}

DEVICE void pack_rows(const work_t *work, u32 wave, i64 at)
{
    f32 *stage = warp_stage(work, wave);
    i64 start = warp_start(wave) + thread_x() % 32 * 4;
    u32 count = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        f32x4 v = load_f32x4(stage + row * 128 + thread_x() % 32 * 4);
        count = keep_row(v, kept_of_four(v, work->n - (start + row * 128), work->threshold), stage,
                         count);
    }
    write_kept(stage, count, work->out + at);
}

KERNEL __launch_bounds__(BLOCK) compact(const f32 *in, i64 n, f32 threshold, f32 *out, i64 *total,
                                        u64 *slots)
{
    DYNAMIC_SHARED(memory);
    __shared__ u32 kept_by[2][WARPS], warp_offset[2][WARPS];
    __shared__ u32 gathered[2][WARPS], gathered_before[2][WARPS];
    u32 thread = thread_x(), warp = thread / 32, blocks = blocks_x();
    i64 tiles = (n + TILE - 1) / TILE, carry = 0;
    u32 waves = (u32)((tiles + blocks - 1) / blocks);
    work_t work = {in, out, n, threshold, (f32 *)memory, is_aligned(in, 16)};

    for (u32 wave = 0; wave < STAGES; wave++)
        fetch(&work, wave);
    copy_async_wait(STAGES - 1);
    u32 count = count_rows(&work, 0);
    if (thread % 32 == 0)
        kept_by[0][warp] = count;
    sync_block();
    if (warp == 0)
        announce(slots, 0, kept_by[0], warp_offset[0]);

    for (u32 wave = 0; wave < waves; wave++) {
        u32 now = wave % 2, next = 1 - now, all = 0, before = 0;
        copy_async_wait(STAGES - 2);
        count = count_rows(&work, wave + 1);
        for (u32 block = thread; block < blocks; block += BLOCK) {
            u32 number = wave_wait(slots, wave, block);
            all += number;
            before += block < block_x() ? number : 0;
        }
        for (u32 lanes = 16; lanes > 0; lanes /= 2) {
            all += shuffle_xor_u32(all, lanes);
            before += shuffle_xor_u32(before, lanes);
        }
        if (thread % 32 == 0) {
            kept_by[next][warp] = count;
            gathered[now][warp] = all;
            gathered_before[now][warp] = before;
        }
        sync_block();
        if (warp == 0 && wave + 1 < waves)
            announce(slots, wave + 1, kept_by[next], warp_offset[next]);
        i64 at = carry + warp_offset[now][warp];
        for (u32 other = 0; other < WARPS; other++) {
            at += gathered_before[now][other];
            carry += gathered[now][other];
        }
        pack_rows(&work, wave, at);
        fetch(&work, wave + STAGES);
    }
    copy_async_wait(0);
    if (block_x() == 0 && thread == 0)
        *total = carry;
}
