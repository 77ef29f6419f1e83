/*
 * warp_tiled.cu: tiles come by cp.async, STAGES of them under way, past the registers. A's tile is
 * not transposed: a thread reads four steps of k of a row at once, and the 16-byte chunks of the
 * rows are swizzled so that this meets no bank twice. A warp makes one compact tile of C with its
 * lanes numbered so that neighbours read the same words: 8 passes through shared memory for 64
 * multiplications where the row-like warps of vectorised.cu need 12.
 */
// arch: sm_80
#include "tile.h"
#include "wide.h"
#define BM 128 // tune: 64 128 256
#define BN 128 // tune: 64 128 256
#define BK 16 // tune: 8 16 32
#define TM 8 // tune: 4 8 16
#define TN 8 // tune: 4 8 16
#define STAGES 3 // tune: 2 3 4 5
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define CHUNKS (BK / 4)              /* of 16 bytes, in a row of A's tile */
#define STAGE (BM * BK + BK * BN)    /* floats of a stage: A's tile, then B's */
#define GROUP 8                      /* rows of tiles that go through B together, for the L2 */
#define REGISTERS (TM * TN > 64 ? 255 : 128)
#define RESIDENT (65536 / REGISTERS / THREADS ? 65536 / REGISTERS / THREADS : 1)

/* Where chunk 0 ^ swizzle_of(row) of a row of A's tile lies: eight rows one below the other have
 * the same chunk in eight different places of 128 bytes. */
DEVICE u32 swizzle_of(u32 row)
{
    return row * BK / 32 % CHUNKS;
}

/* Four elements of a matrix, zero outside of it, to shared memory. */
DEVICE void copy_four(f32 *to, matrix x, i64 row, i64 column, bool wide)
{
    const f32 *from = x.at + row * x.columns + column;
    bool inside = row < x.rows && column < x.columns;
    if (wide) {
        copy_async_16(to, inside ? from : x.at, inside ? 16 : 0);
        return;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        bool is = inside && column + i < x.columns;
        copy_async_4(to + i, is ? from + i : x.at, is ? 4 : 0);
    }
}

DEVICE void copy_stage(f32 *stage, matrix a, matrix b, i64 row, i64 column, i64 from, bool wide)
{
#pragma unroll
    for (u32 first = 0; first < BM * CHUNKS; first += THREADS) {
        u32 i = first + thread_x(), down = i / CHUNKS, chunk = i % CHUNKS;
        if (BM * CHUNKS % THREADS == 0 || i < BM * CHUNKS)
            copy_four(stage + (down * CHUNKS + (chunk ^ swizzle_of(down))) * 4, a, row + down,
                      from + chunk * 4, wide);
    }
#pragma unroll
    for (u32 first = 0; first < BK * BN / 4; first += THREADS) {
        u32 i = first + thread_x();
        if (BK * BN / 4 % THREADS == 0 || i < BK * BN / 4)
            copy_four(stage + BM * BK + i * 4, b, from + i / (BN / 4), column + i % (BN / 4) * 4,
                      wide);
    }
}

/* down and across: where the thread begins in the block's tile; its rows are 8 apart, its columns
 * in groups of four that are 16 apart. */
DEVICE void multiply_stage(const f32 *stage, u32 down, u32 across, f32 sum[TM][TN])
{
    const f32 *of_a = stage + down * BK, *of_b = stage + BM * BK + across;
    u32 swizzle = swizzle_of(down);
#pragma unroll
    for (u32 i = 0; i < BK; i += 4) {
        f32x4 left[TM];
#pragma unroll
        for (u32 t = 0; t < TM; t++)
            left[t] = load_f32x4(of_a + t * 8 * BK + (i / 4 ^ swizzle) * 4);
#pragma unroll
        for (u32 step = 0; step < 4; step++) {
            f32x4 right[TN / 4];
#pragma unroll
            for (u32 t = 0; t < TN / 4; t++)
                right[t] = load_f32x4(of_b + (i + step) * BN + t * 16);
#pragma unroll
            for (u32 t = 0; t < TM * TN; t++)
                sum[t / TN][t % TN] =
                    fma_f32(part(left[t / TN], step), part(right[t % TN / 4], t % 4),
                            sum[t / TN][t % TN]);
        }
    }
}

/* Tiles of C in groups of GROUP rows, down before across. */
DEVICE void place_block(i64 m, i64 n, i64 *row, i64 *column)
{
    u32 down = (u32)((m + BM - 1) / BM), across = (u32)((n + BN - 1) / BN);
    u32 group = block_x() / (GROUP * across), rest = block_x() % (GROUP * across);
    u32 height = down - group * GROUP < GROUP ? down - group * GROUP : GROUP;
    *row = (i64)(group * GROUP + rest % height) * BM;
    *column = (i64)(rest / height) * BN;
}

DEVICE void multiply(matrix a, matrix b, f32 *c, bool wide)
{
    DYNAMIC_SHARED(bytes);
    f32 *stages = (f32 *)bytes;
    u32 lane = thread_x() % 32, warp = thread_x() / 32;
    u32 down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8;
    u32 across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
    i64 row, column;
    place_block(a.rows, b.columns, &row, &column);
    f32 sum[TM][TN] = {{0}};
    /* The stages that nothing is left for are empty groups, so that the count stays right. */
    i64 next = 0;
    u32 into = 0, now = 0;
#pragma unroll
    for (; into < STAGES - 1; into++, next += BK) {
        if (next < a.columns)
            copy_stage(stages + into * STAGE, a, b, row, column, next, wide);
        copy_async_commit();
    }
    for (i64 from = 0; from < a.columns; from += BK, next += BK) {
        copy_async_wait(STAGES - 2);
        sync_block(); /* this stage is here for all, and nobody reads the one before it any more */
        if (next < a.columns)
            copy_stage(stages + into * STAGE, a, b, row, column, next, wide);
        copy_async_commit();
        multiply_stage(stages + now * STAGE, down, across, sum);
        into = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
#pragma unroll
    for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN / 4; j++)
            put_four(c, a.rows, b.columns, row + down + i * 8, column + across + j * 16,
                     &sum[i][j * 4], wide);
}

KERNEL __launch_bounds__(THREADS, RESIDENT)
    matmul_wide(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    multiply(matrix_of(a, m, k), matrix_of(b, k, n), c, true);
}

KERNEL __launch_bounds__(THREADS, RESIDENT)
    matmul_any(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    multiply(matrix_of(a, m, k), matrix_of(b, k, n), c, false);
}
