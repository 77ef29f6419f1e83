/*
 * vectorised.cu: 16 bytes at a time everywhere: global loads and stores, and, because the tile of A
 * lies transposed in shared memory, both operands of the multiplication: 4 loads for 64 of them.
 * While a tile is multiplied the next one is on its way in registers, and goes to the other of two
 * buffers: one barrier a tile instead of two.
 */
// arch: sm_75
#include "tile.h"
#include "wide.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define ACROSS (BN / TN) /* threads */
#define DOWN (BM / TM)
#define THREADS (ACROSS * DOWN)
#define ROW (BM + 4) /* of the transposed tile: the four stores of a chunk hit banks of their own */
#define A_CHUNKS ((BM * BK / 4 + THREADS - 1) / THREADS) /* of 4 elements, for each thread */
#define B_CHUNKS ((BK * BN / 4 + THREADS - 1) / THREADS)

typedef struct {
    f32x4 a[A_CHUNKS], b[B_CHUNKS];
} on_its_way;

DEVICE void fetch(on_its_way *next, matrix a, matrix b, i64 row, i64 column, i64 from, bool wide)
{
#pragma unroll
    for (u32 t = 0; t < A_CHUNKS; t++) {
        u32 chunk = thread_x() + t * THREADS;
        if (BM * BK / 4 % THREADS == 0 || chunk < BM * BK / 4)
            next->a[t] =
                four_elements(a, row + chunk / (BK / 4), from + chunk % (BK / 4) * 4, wide);
    }
#pragma unroll
    for (u32 t = 0; t < B_CHUNKS; t++) {
        u32 chunk = thread_x() + t * THREADS;
        if (BK * BN / 4 % THREADS == 0 || chunk < BK * BN / 4)
            next->b[t] =
                four_elements(b, from + chunk / (BN / 4), column + chunk % (BN / 4) * 4, wide);
    }
}

DEVICE void keep(const on_its_way *next, f32 of_a[BK][ROW], f32 of_b[BK][BN])
{
#pragma unroll
    for (u32 t = 0; t < A_CHUNKS; t++) {
        u32 chunk = thread_x() + t * THREADS;
        u32 across = chunk % (BK / 4) * 4, down = chunk / (BK / 4);
        if (BM * BK / 4 % THREADS != 0 && chunk >= BM * BK / 4)
            continue;
        of_a[across][down] = next->a[t].x;
        of_a[across + 1][down] = next->a[t].y;
        of_a[across + 2][down] = next->a[t].z;
        of_a[across + 3][down] = next->a[t].w;
    }
#pragma unroll
    for (u32 t = 0; t < B_CHUNKS; t++) {
        u32 chunk = thread_x() + t * THREADS;
        if (BK * BN / 4 % THREADS == 0 || chunk < BK * BN / 4)
            store_f32x4(&of_b[chunk / (BN / 4)][chunk % (BN / 4) * 4], next->b[t]);
    }
}

/* A thread's rows and columns are groups of four, the groups as far apart as the threads reach. */
DEVICE void multiply_tiles(const f32 of_a[BK][ROW], const f32 of_b[BK][BN], u32 x, u32 y,
                           f32 sum[TM][TN])
{
#pragma unroll
    for (u32 i = 0; i < BK; i++) {
        f32x4 left[TM / 4], right[TN / 4];
#pragma unroll
        for (u32 t = 0; t < TM / 4; t++)
            left[t] = load_f32x4(&of_a[i][(y + t * DOWN) * 4]);
#pragma unroll
        for (u32 t = 0; t < TN / 4; t++)
            right[t] = load_f32x4(&of_b[i][(x + t * ACROSS) * 4]);
#pragma unroll
        for (u32 t = 0; t < TM * TN; t++)
            sum[t / TN][t % TN] = fma_f32(part(left[t / TN / 4], t / TN % 4),
                                          part(right[t % TN / 4], t % TN % 4),
                                          sum[t / TN][t % TN]);
    }
}

DEVICE void multiply(matrix a, matrix b, f32 *c, bool wide)
{
    __shared__ __align__(16) f32 of_a[2][BK][ROW], of_b[2][BK][BN];
    u32 x = thread_x() % ACROSS, y = thread_x() / ACROSS;
    i64 row = (i64)block_x() * BM, column = (i64)block_y() * BN, k = a.columns;
    f32 sum[TM][TN] = {{0}};
    on_its_way next;
    fetch(&next, a, b, row, column, 0, wide);
    keep(&next, of_a[0], of_b[0]);
    sync_block();
    u32 now = 0;
    for (i64 from = 0; from < k; from += BK, now ^= 1) {
        bool more = from + BK < k;
        if (more)
            fetch(&next, a, b, row, column, from + BK, wide);
        multiply_tiles(of_a[now], of_b[now], x, y, sum);
        if (more)
            keep(&next, of_a[now ^ 1], of_b[now ^ 1]);
        sync_block();
    }
#pragma unroll
    for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN / 4; j++)
            put_four(c, a.rows, b.columns, row + (y + i / 4 * DOWN) * 4 + i % 4,
                     column + (x + j * ACROSS) * 4, &sum[i][j * 4], wide);
}

/* Everything lies at multiples of 16 bytes, and so do the rows. */
KERNEL __launch_bounds__(THREADS)
    matmul_wide(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    multiply(matrix_of(a, m, k), matrix_of(b, k, n), c, true);
}

KERNEL __launch_bounds__(THREADS)
    matmul_any(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    multiply(matrix_of(a, m, k), matrix_of(b, k, n), c, false);
}
