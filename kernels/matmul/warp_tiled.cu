/*
 * warp_tiled.cu: tiles come by cp.async, STAGES of them under way, past the registers. A's tile is
 * not transposed: a thread reads four steps of k of a row at once, and the 16-byte chunks of the
 * rows are swizzled so that this meets no bank twice. A warp makes one compact tile of C with its
 * lanes numbered so that neighbours read the same words, 8 x 16 elements in each thread: 96 passes
 * through shared memory for 1024 multiplications of a warp, where vectorised.cu needs 192.
 */
// arch: sm_80
#include "tile.h"
#include "wide.h"
#define BM 128 // tune: 64 128 256
#define BN 128 // tune: 64 128 256
#define BK 8 // tune: 8 16 32
#define TM 8 // tune: 4 8 16
#define TN 16 // tune: 4 8 16
#define STAGES 3 // tune: 3 4 5
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define CHUNKS (BK / 4)              /* of 16 bytes, in a row of A's tile */
#define STAGE (BM * BK + BK * BN)    /* floats of a stage: A's tile, then B's */
#define A_COPIES (BM * BK / 4 / THREADS) /* chunks of a stage that one thread copies */
#define B_COPIES (BK * BN / 4 / THREADS)
#define A_ROWS (THREADS / CHUNKS)   /* from one chunk of a thread to its next */
#define B_ROWS (THREADS / (BN / 4))
#define GROUP 8 /* rows of tiles that go through B together, for the L2 */
#define REGISTERS (TM * TN > 64 ? 255 : 128)
#define RESIDENT (65536 / REGISTERS / THREADS ? 65536 / REGISTERS / THREADS : 1)
#if BM * BK / 4 % THREADS || BK * BN / 4 % THREADS || THREADS % (BN / 4) || A_ROWS % 8 ||          \
    BM % (8 * TM) || BN % (4 * TN)
#error "the tiles do not come out even"
#endif

/* Chunk i of a row of A's tile lies at place i ^ swizzle_of(row): in eight rows, one below the
 * other, the same chunk has eight different places of 128 bytes. */
DEVICE u32 swizzle_of(u32 row)
{
    return row * BK / 32 % CHUNKS;
}

/* Copying ---------------------------------------------------------------------------------------*/

/* What a thread copies. Rows and columns outside of the matrices are replaced by their last ones:
 * what comes of them is not stored. */
typedef struct {
    const f32 *a[A_COPIES], *b; /* its first chunks of the next stage */
    i64 b_down;                 /* to B's next chunk */
    u32 to_a, to_b;             /* within a stage, shared addresses */
    u32 a_column, b_row, b_columns;
} copier;

DEVICE copier copier_of(matrix a, matrix b, i64 row, i64 column, u32 stages)
{
    copier copy;
    u32 down = thread_x() / CHUNKS, chunk = thread_x() % CHUNKS;
#pragma unroll
    for (u32 t = 0; t < A_COPIES; t++)
        copy.a[t] = a.at + least(row + down + t * A_ROWS, a.rows - 1) * a.columns + chunk * 4;
    copy.a_column = chunk * 4;
    copy.to_a = stages + (down * CHUNKS + (chunk ^ swizzle_of(down))) * 16;
    copy.b_row = thread_x() / (BN / 4);
    i64 from = least(column + thread_x() % (BN / 4) * 4, b.columns - 1) / 4 * 4;
    copy.b = b.at + copy.b_row * b.columns + from;
    copy.b_columns = (u32)least(4, b.columns - from);
    copy.b_down = B_ROWS * b.columns;
    copy.to_b = stages + (BM * BK + thread_x() * 4) * 4;
    return copy;
}

/* The first count of four elements, and zero for the others. */
DEVICE void copy_four(u32 to, const f32 *from, u32 count, bool wide)
{
    if (wide) { /* all or none */
        copy_async_16_to(to, from, count ? 16 : 0);
        return;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        copy_async_4_to(to + i * 4, from + i, i < count ? 4 : 0);
}

/* The next stage, of which `left` steps of k are inside the matrices: BK, but for the last one. */
DEVICE void copy_stage(copier *copy, u32 stage, u32 left, i64 n, bool wide)
{
    u32 in_a = left > copy->a_column ? left - copy->a_column : 0;
#pragma unroll
    for (u32 t = 0; t < A_COPIES; t++) {
        copy_four(copy->to_a + stage + t * A_ROWS * BK * 4, copy->a[t], in_a, wide);
        copy->a[t] += BK;
    }
#pragma unroll
    for (u32 t = 0; t < B_COPIES; t++)
        copy_four(copy->to_b + stage + t * THREADS * 16, copy->b + t * copy->b_down,
                  copy->b_row + t * B_ROWS < left ? copy->b_columns : 0, wide);
    copy->b += BK * n;
}

/* Multiplying -----------------------------------------------------------------------------------*/

/* Four steps of k of a thread's rows, which are 8 apart. */
typedef struct {
    f32x4 row[TM];
} chunk_of_a;

DEVICE void read_chunk(chunk_of_a *left, const f32 *of_a, u32 chunk, u32 swizzle)
{
#pragma unroll
    for (u32 t = 0; t < TM; t++)
        left->row[t] = load_f32x4(of_a + t * 8 * BK + (chunk ^ swizzle) * 4);
}

/* One step of k of a thread's columns: groups of four that are 16 apart. */
typedef struct {
    f32x4 group[TN / 4];
} row_of_b;

DEVICE void read_row(row_of_b *right, const f32 *of_b)
{
#pragma unroll
    for (u32 t = 0; t < TN / 4; t++)
        right->group[t] = load_f32x4(of_b + t * 16);
}

DEVICE void multiply_step(const chunk_of_a *left, u32 step, const row_of_b *right,
                          f32 sum[TM][TN])
{
#pragma unroll
    for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN; j++)
            sum[i][j] =
                fma_f32(part(left->row[i], step), part(right->group[j / 4], j % 4), sum[i][j]);
}

/* The four steps of a chunk whose first row of B is in `right`; leaves there the one at `after`. */
DEVICE void multiply_chunk(const chunk_of_a *left, row_of_b *right, const f32 *of_b,
                           const f32 *after, f32 sum[TM][TN])
{
    row_of_b next;
    read_row(&next, of_b + BN);
    multiply_step(left, 0, right, sum);
    read_row(right, of_b + 2 * BN);
    multiply_step(left, 1, &next, sum);
    read_row(&next, of_b + 3 * BN);
    multiply_step(left, 2, right, sum);
    read_row(right, after);
    multiply_step(left, 3, &next, sum);
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
    u32 lane = thread_x() % 32, warp = thread_x() / 32;
    u32 down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8;
    u32 across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
    u32 k = (u32)a.columns, next = 0, now = 0, into = STAGES - 1, swizzle = swizzle_of(down);
    const f32 *of_a = (const f32 *)bytes + down * BK, *of_b = (const f32 *)bytes + BM * BK + across;
    i64 row, column;
    place_block(a.rows, b.columns, &row, &column);
    copier copy = copier_of(a, b, row, column, shared_address(bytes));
    f32 sum[TM][TN] = {{0}};
    /* Where nothing is left to copy the group is empty, so that the count of groups stays right. */
#pragma unroll
    for (u32 stage = 0; stage < STAGES - 1; stage++, next += BK) {
        if (next < k)
            copy_stage(&copy, stage * STAGE * 4, k - next, b.columns, wide);
        copy_async_commit();
    }
    chunk_of_a even, odd;
    row_of_b right;
    copy_async_wait(STAGES - 2);
    sync_block();
    if (k > 0) {
        read_chunk(&even, of_a, 0, swizzle);
        read_row(&right, of_b);
    }
    for (u32 from = 0; from < k; from += BK, next += BK) {
        /* Behind the last stage this one's beginning is read once more, and not used. */
        u32 then = from + BK >= k ? now : now + 1 == STAGES ? 0 : now + 1;
        const f32 *a_now = of_a + now * STAGE, *b_now = of_b + now * STAGE;
#pragma unroll
        for (u32 chunk = 0; chunk < CHUNKS; chunk += 2, b_now += 8 * BN) {
            read_chunk(&odd, a_now, chunk + 1, swizzle);
            multiply_chunk(&even, &right, b_now, b_now + 4 * BN, sum);
            bool last = chunk + 2 == CHUNKS;
            if (last) { /* the next stage must be here, and nobody needs the one before this */
                copy_async_wait(STAGES - 3);
                sync_block();
                if (next + BK <= k)
                    copy_stage(&copy, into * STAGE * 4, BK, b.columns, wide);
                else if (next < k)
                    copy_stage(&copy, into * STAGE * 4, k - next, b.columns, wide);
                copy_async_commit();
            }
            read_chunk(&even, last ? of_a + then * STAGE : a_now, last ? 0 : chunk + 2, swizzle);
            multiply_chunk(&odd, &right, b_now + 4 * BN,
                           last ? of_b + then * STAGE : b_now + 8 * BN, sum);
        }
        into = now;
        now = then;
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
