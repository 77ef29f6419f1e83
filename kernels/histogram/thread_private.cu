/*
 * thread_private.cu: no atomics at all: every thread has a byte for each of 256 bins, and a lane's
 * bytes lie in a bank of its own, so that no data makes lanes wait. A byte holds 255: the warp adds
 * its bytes up in time, and each lane keeps the sums of eight bins in registers.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 256 // tune: 128 256
#define UNROLL 5 // tune: 1 3 5
#define EACH "thread_private.cu"

#define ROWS 64 /* of a warp's bytes, [ROWS][32 lanes][4]: bin / 4, lane, bin % 4 */
#define CAPACITY (255 - 2) /* what the loop may add to a byte before a sum; 2 for the ends */

DEVICE void clear_bytes(u32 *bytes)
{
    for (u32 row = 0; row < ROWS; row++)
        bytes[row * 32 + lane_id()] = 0;
    sync_warp();
}

/* Each lane adds two rows, [4 bins] of 32 lanes, to its sums; two bytes of a word at a time in
 * halves, which hold 32 * 255. Lanes start at different columns, for the banks' sake. */
DEVICE void add_bytes(u32 *bytes, u32 *sums)
{
    u32 lane = lane_id();
    sync_warp();
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
        u32 *row = bytes + (half * 32 + lane) * 32, even = 0, odd = 0;
#pragma unroll 8
        for (u32 k = 0; k < 32; k++) {
            u32 word = row[(k + lane) % 32];
            even += word & 0x00ff00ffu;
            odd += word >> 8 & 0x00ff00ffu;
        }
        sums[4 * half] += even & 0xffffu;
        sums[4 * half + 1] += odd & 0xffffu;
        sums[4 * half + 2] += even >> 16;
        sums[4 * half + 3] += odd >> 16;
    }
    sync_warp();
    clear_bytes(bytes);
}

DEVICE void count_byte(u8 *mine, u32 bin, u32 bins)
{
    if (bin < bins)
        mine[(bin & 0xfcu) << 5 | (bin & 3u)]++;
}
#include "each_type.h"
#else

#define VECTOR ((i64)(16 / sizeof(T)))

typedef union {
    u32x4 words;
    T element[16 / sizeof(T)];
} NAME(vector);

/* UNROLL vectors of each lane, from `start` on; all lanes of a warp call it. */
DEVICE void NAME(count_batch)(const T *body, i64 start, i64 vectors, u8 *mine, u32 bins)
{
    NAME(vector) v[UNROLL];
    i64 i = start + lane_id();
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++)
        if (i + 32 * k < vectors)
            v[k].words = load_stream_u32x4(body + (i + 32 * k) * VECTOR);
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++)
        if (i + 32 * k < vectors)
#pragma unroll
            for (u32 e = 0; e < VECTOR; e++)
                count_byte(mine, NAME(bin_of)(v[k].element[e], bins), bins);
}

KERNEL __launch_bounds__(BLOCK, 3) NAME(count)(const T *in, i64 n, u32 bins, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 lane = lane_id(), sums[8] = {0}, added = 0;
    u32 *bytes = (u32 *)memory + thread_x() / 32 * ROWS * 32;
    u8 *mine = (u8 *)(bytes + lane);
    clear_bytes(bytes);

    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / sizeof(T)));
    i64 vectors = (n - head) / VECTOR, tail = head + vectors * VECTOR, me = global_thread();
    if (me < head)
        count_byte(mine, NAME(bin_of)(in[me], bins), bins);
    if (me < n - tail)
        count_byte(mine, NAME(bin_of)(in[tail + me], bins), bins);

    for (i64 i = (me - lane) * UNROLL; i < vectors; i += global_threads() * UNROLL) {
        if (added + UNROLL * VECTOR > CAPACITY) {
            add_bytes(bytes, sums);
            added = 0;
        }
        NAME(count_batch)(in + head, i, vectors, mine, bins);
        added += UNROLL * VECTOR;
    }
    add_bytes(bytes, sums);
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        u32 bin = 4 * (lane + k / 4 * 32) + k % 4;
        if (bin < bins && sums[k])
            red_add_u32(&counts[bin], sums[k]);
    }
}
#undef VECTOR
#endif
