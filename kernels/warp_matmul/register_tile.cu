/*
 * register_tile.cu: a lane computes a tile of SIZE / 4 rows by 4 columns: what it reads from shared
 * memory, 16 bytes at a time, goes into as many multiplications as the tile is high or wide. SIZE
 * lanes make a matrix, a warp is by itself, and there is no barrier of the block.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 128 // tune: 64 128
#define EACH "register_tile.cu"

DEVICE f32x4 load_four(const f32 *at, bool aligned)
{
    if (aligned)
        return load_stream_f32x4(at);
    f32x4 v = {load_stream_f32(at), load_stream_f32(at + 1), load_stream_f32(at + 2),
               load_stream_f32(at + 3)};
    return v;
}
DEVICE void store_four(f32 *at, f32x4 v, bool aligned)
{
    if (aligned) {
        store_stream_f32x4(at, v);
        return;
    }
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    at[3] = v.w;
}
/* sum += a * b, of four columns. */
DEVICE f32x4 add_product(f32x4 sum, f32 a, f32x4 b)
{
    f32x4 result = {fma_f32(a, b.x, sum.x), fma_f32(a, b.y, sum.y), fma_f32(a, b.z, sum.z),
                    fma_f32(a, b.w, sum.w)};
    return result;
}
#include "each_size.h"
#else

#define ROWS (SIZE / 4) /* of a lane's tile: every fourth one, so that lanes read different banks  \
                         */
#define PITCH (SIZE + 4)

/* A matrix from memory to shared memory, [SIZE][PITCH], by SIZE lanes. */
DEVICE void NAME(fetch)(const f32 *from, u32 me, bool mine, f32 *to)
{
    bool aligned = is_aligned(from, 16);
    f32x4 v[ROWS], zero = {};
#pragma unroll
    for (u32 k = 0; k < ROWS; k++)
        v[k] = mine ? load_four(from + (me + k * SIZE) * 4, aligned) : zero;
#pragma unroll
    for (u32 k = 0; k < ROWS; k++) {
        u32 i = (me + k * SIZE) * 4;
        store_f32x4(to + i / SIZE * PITCH + i % SIZE, v[k]);
    }
}

/* The tile's rows first, first + 4 .. and columns column .. column + 3. */
DEVICE void NAME(multiply_tile)(const f32 *left, const f32 *right, u32 first, u32 column,
                                f32x4 *sum)
{
#pragma unroll
    for (u32 k = 0; k < SIZE; k += 4) {
        f32x4 b[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            b[j] = load_f32x4(right + (k + j) * PITCH + column);
#pragma unroll
        for (u32 i = 0; i < ROWS; i++) {
            f32x4 a = load_f32x4(left + (first + 4 * i) * PITCH + k);
            sum[i] = add_product(sum[i], a.x, b[0]);
            sum[i] = add_product(sum[i], a.y, b[1]);
            sum[i] = add_product(sum[i], a.z, b[2]);
            sum[i] = add_product(sum[i], a.w, b[3]);
        }
    }
}

KERNEL __launch_bounds__(BLOCK, 512 / BLOCK)
    NAME(multiply)(const f32 *a, const f32 *b, i64 batch, f32 *c)
{
    __shared__ __align__(16) f32 left[BLOCK / SIZE][SIZE * PITCH];
    __shared__ __align__(16) f32 right[BLOCK / SIZE][SIZE * PITCH];
    u32 me = thread_x() % SIZE, slot = thread_x() / SIZE;
    u32 first = me / ROWS, column = me % ROWS * 4;
    i64 matrix = global_thread() / SIZE, offset = matrix * SIZE * SIZE;
    bool mine = matrix < batch;
    NAME(fetch)(a + offset, me, mine, left[slot]);
    NAME(fetch)(b + offset, me, mine, right[slot]);
    sync_warp();
    f32x4 sum[ROWS] = {};
    NAME(multiply_tile)(left[slot], right[slot], first, column, sum);
    bool aligned = is_aligned(c, 16);
#pragma unroll
    for (u32 i = 0; i < ROWS; i++)
        if (mine)
            store_four(c + offset + (first + 4 * i) * SIZE + column, sum[i], aligned);
}
#undef ROWS
#undef PITCH
#endif
