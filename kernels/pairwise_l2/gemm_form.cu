/*
 * gemm_form.cu: |x - y|^2 = |x|^2 + |y|^2 - 2 x y. The lengths come from a pass over the vectors,
 * and what remains for each pair is a product, half the instructions of a difference and a square.
 * The product is a matmul by tiles in registers, fed by cp.async; both tiles hold their vectors as
 * they lie in memory, and a thread reads four elements of each at once. The price: where the points
 * are near each other and far from 0 most digits cancel. What rounding makes negative becomes 0.
 */
// arch: sm_80
#include "device.h"
#define BM 64 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 16 // tune: 8 16 32
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define STAGES 3 // tune: 2 3 4
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define CHUNKS (BK / 4)              /* of 16 bytes, in a row of a tile */
#define STAGE ((BM + BN) * BK)       /* floats of a stage: x's tile, then y's */
#define RESIDENT (384 / THREADS ? 384 / THREADS : 1) /* blocks, at 168 registers a thread */
#if BM % (8 * TM) || BN % (4 * TN) || BM % (THREADS / CHUNKS) || BN % (THREADS / CHUNKS) ||        \
    THREADS / CHUNKS % 8
#error "the tiles do not come out even"
#endif

/* lengths[n + m] = |x|^2 of every vector of x, then of y: a warp for each. */
KERNEL lengths(const f32 *x, const f32 *y, f32 *lengths, i64 n, i64 m, i64 d)
{
    i64 vector = global_thread() / 32;
    if (vector >= n + m)
        return;
    const f32 *at = vector < n ? x + vector * d : y + (vector - n) * d;
    f32 sum = 0;
    for (i64 l = lane_id(); l < d; l += 32)
        sum = fma_f32(at[l], at[l], sum);
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        sum += shuffle_xor_f32(sum, lanes);
    if (lane_id() == 0)
        lengths[vector] = sum;
}

/* Tiles -----------------------------------------------------------------------------------------*/

/* Chunk i of a row lies at place i ^ swizzle_of(row): in eight rows, one below the other, the same
 * chunk has eight different places of 128 bytes. */
DEVICE u32 swizzle_of(u32 row)
{
    return row * BK / 32 % CHUNKS;
}

/* What a thread copies of the tile of `rows` vectors: one chunk of every ROWS-th of them. Vectors
 * behind the last are replaced by it: their distances are not stored. */
#define ROWS (THREADS / CHUNKS)
typedef struct {
    const f32 *at[(BM > BN ? BM : BN) / ROWS]; /* its chunks of the next stage */
    u32 to;                                    /* shared address of the first, within a stage */
} copier;

DEVICE copier copier_of(const f32 *p, i64 count, i64 d, i64 first, u32 rows, u32 tile)
{
    copier copy;
    u32 row = thread_x() / CHUNKS, chunk = thread_x() % CHUNKS;
#pragma unroll
    for (u32 t = 0; t < rows / ROWS; t++)
        copy.at[t] = p + least(first + row + t * ROWS, count - 1) * d + chunk * 4;
    copy.to = tile + (row * CHUNKS + (chunk ^ swizzle_of(row))) * 16;
    return copy;
}

/* The tile's next stage, of which `left` elements of each vector are there (BK, but for the last
 * stage) and the others zero. wide: every vector begins at a multiple of 16 bytes. */
DEVICE void copy_tile(copier *copy, u32 rows, u32 stage, u32 left, bool wide)
{
    u32 chunk = thread_x() % CHUNKS;
#pragma unroll
    for (u32 t = 0; t < rows / ROWS; t++) {
        u32 to = copy->to + stage + t * ROWS * BK * 4;
        if (wide)
            copy_async_16_to(to, copy->at[t], chunk * 4 < left ? 16 : 0);
#pragma unroll
        for (u32 e = 0; e < 4 && !wide; e++)
            copy_async_4_to(to + e * 4, copy->at[t] + e, chunk * 4 + e < left ? 4 : 0);
        copy->at[t] += BK;
    }
}

DEVICE f32 part(f32x4 v, u32 i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* Four elements of a thread's vectors: those of x are 8 apart, those of y are groups of four that
 * are 16 apart. of_x and of_y point to the first ones. */
DEVICE void multiply_chunk(const f32 *of_x, const f32 *of_y, u32 chunk, u32 swizzle_x,
                           u32 swizzle_y, f32 sum[TM][TN])
{
    f32x4 left[TM], right[TN];
#pragma unroll
    for (u32 t = 0; t < TM; t++)
        left[t] = load_f32x4(of_x + t * 8 * BK + (chunk ^ swizzle_x) * 4);
#pragma unroll
    for (u32 t = 0; t < TN; t++)
        right[t] = load_f32x4(of_y + (t % 4 + t / 4 * 16) * BK +
                              (chunk ^ swizzle_of(t % 4) ^ swizzle_y) * 4);
#pragma unroll
    for (u32 l = 0; l < 4; l++)
#pragma unroll
        for (u32 t = 0; t < TM * TN; t++)
            sum[t / TN][t % TN] =
                fma_f32(part(left[t / TN], l), part(right[t % TN], l), sum[t / TN][t % TN]);
}

DEVICE void multiply_stage(const f32 *stage, u32 down, u32 across, f32 sum[TM][TN])
{
    const f32 *of_x = stage + down * BK, *of_y = stage + (BM + across) * BK;
#pragma unroll
    for (u32 chunk = 0; chunk < CHUNKS; chunk += 2) {
        multiply_chunk(of_x, of_y, chunk, swizzle_of(down), swizzle_of(across), sum);
        multiply_chunk(of_x, of_y, chunk + 1, swizzle_of(down), swizzle_of(across), sum);
    }
}

/* From products to distances --------------------------------------------------------------------*/

DEVICE f32 distance(f32 of_x, f32 of_y, f32 product)
{
    f32 value = fma_f32(-2.0f, product, of_x + of_y);
    return value < 0 ? 0.0f : value; /* NaN stays */
}

/* Four distances of a row; those behind the last column are left out. */
DEVICE void put_four(f32 *out, const f32 *of_y, f32 of_x, const f32 product[4], i64 left, bool wide)
{
    if (wide) {
        f32x4 v = {distance(of_x, of_y[0], product[0]), distance(of_x, of_y[1], product[1]),
                   distance(of_x, of_y[2], product[2]), distance(of_x, of_y[3], product[3])};
        store_stream_f32x4(out, v);
        return;
    }
#pragma unroll
    for (u32 e = 0; e < 4; e++)
        if (e < left)
            out[e] = distance(of_x, of_y[e], product[e]);
}

typedef struct {
    const f32 *x, *y, *lengths;
    f32 *out;
    i64 n, m, d;
} problem;

DEVICE void put_distances(problem p, i64 row, i64 column, const f32 sum[TM][TN], bool wide)
{
#pragma unroll
    for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN / 4; j++) {
            i64 down = row + i * 8, across = column + j * 16;
            if (down < p.n && across < p.m)
                put_four(p.out + down * p.m + across, p.lengths + p.n + across, p.lengths[down],
                         &sum[i][j * 4], p.m - across, wide);
        }
}

DEVICE void copy_stage(copier *x, copier *y, u32 stage, u32 left, bool wide)
{
    copy_tile(x, BM, stage * STAGE * 4, left, wide);
    copy_tile(y, BN, stage * STAGE * 4, left, wide);
}

DEVICE void pairwise(problem p, bool wide)
{
    DYNAMIC_SHARED(bytes);
    u32 lane = thread_x() % 32, warp = thread_x() / 32, shared = shared_address(bytes);
    u32 down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8;
    u32 across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
    u32 d = (u32)p.d, next = 0, now = 0, into = STAGES - 1;
    i64 row = (i64)block_x() * BM, column = (i64)block_y() * BN;
    copier x = copier_of(p.x, p.n, d, row, BM, shared);
    copier y = copier_of(p.y, p.m, d, column, BN, shared + BM * BK * 4);
    f32 sum[TM][TN] = {{0}};
    /* Where nothing is left to copy the group is empty, so that the count of groups stays right. */
#pragma unroll
    for (u32 stage = 0; stage < STAGES - 1; stage++, next += BK) {
        if (next < d)
            copy_stage(&x, &y, stage, d - next, wide);
        copy_async_commit();
    }
    for (u32 from = 0; from < d; from += BK, next += BK) {
        copy_async_wait(STAGES - 2);
        sync_block(); /* this stage is here for all, and nobody reads the one before it any more */
        if (next + BK <= d)
            copy_stage(&x, &y, into, BK, wide);
        else if (next < d)
            copy_stage(&x, &y, into, d - next, wide);
        copy_async_commit();
        multiply_stage((const f32 *)bytes + now * STAGE, down, across, sum);
        into = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
    put_distances(p, row + down, column + across, sum, wide);
}

/* Vectors and rows of out begin at multiples of 16 bytes. */
KERNEL __launch_bounds__(THREADS, RESIDENT)
    pairwise_wide(const f32 *x, const f32 *y, const f32 *lengths, f32 *out, i64 n, i64 m, i64 d)
{
    problem p = {x, y, lengths, out, n, m, d};
    pairwise(p, true);
}

KERNEL __launch_bounds__(THREADS, RESIDENT)
    pairwise_any(const f32 *x, const f32 *y, const f32 *lengths, f32 *out, i64 n, i64 m, i64 d)
{
    problem p = {x, y, lengths, out, n, m, d};
    pairwise(p, false);
}
