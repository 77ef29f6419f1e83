/*
 * tiles.cu: weights in tiles, y^T = W x^T on the tensor cores. A lane copies 16 bytes of codes, STAGES
 * tiles ahead, to a place in shared memory that no other lane reads: it waits for its own copies and for
 * nobody. The codes become operands by a mask and one subtraction a pair; sums of a scale's columns are
 * scaled in f32. Every warp has 16 or 32 rows of W of its own, and all of a block share the
 * rows of x, which wait in shared memory as operands. Each block of a cluster has a part of k; in the end
 * the blocks read each other's sums.
 */
// arch: sm_90
#include "tiles.h"

/* Tiles of 64 columns on their way to a warp. */
#define STAGES 8 // tune: 4 6 8 12

/* Rows of x in shared memory: NT times 8 rows, PHASE columns at a time. A lane's operands of 32 columns
 * (NT 1) or of 16 (NT 2) are 16 bytes. */
template <int NT> static constexpr int PHASE = 2048 / NT;

template <int NT, class T>
static __device__ __forceinline__ void stage(unsigned *to, const T *x, int rows, int k, int from,
                                             int columns)
{
    // A thread moves 8 columns of a row: to two bits of lane number each.
    for (int i = threadIdx.x; i < NT * 8 * (columns / 8); i += BLOCK) {
        int row = i / (columns / 8), eighth = i - row * (columns / 8), col = from + 8 * eighth;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (row < rows && col < k)
            v = *(const uint4 *)(x + (long long)row * k + col);
        int step = eighth / 2; // of 16 columns
        int unit = NT == 1 ? step / 2 : step, word = NT == 1 ? step % 2 * 2 : row / 8 * 2;
        unsigned *lane = to + (unit * 32 + row % 8 * 4) * 4 + word + eighth % 2;
        lane[0] = v.x, lane[4] = v.y, lane[8] = v.z, lane[12] = v.w;
    }
}

/* Chunks of a warp's tiles on their way. Where copies are from and to moves on by additions. */
template <int GROUP> struct slot {
    uint4 codes[32];
    unsigned scales[32][Tiles<GROUP>::PER_CHUNK];
};
template <int TILES, int GROUP> struct stream {
    enum { RING = STAGES / TILES };
    slot<GROUP> (*slots)[TILES]; // RING times
    const uint4 *codes;
    const unsigned *scales;
    long long codes_of_tile, scales_of_tile; // from one tile to the next
    unsigned bytes[TILES];                   // 16; of tiles that are not there 0, and they become zeros
    int chunk, end, to;

    __device__ __forceinline__ void copy(void)
    {
        if (chunk < end) {
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                slot<GROUP> *place = &slots[to][t];
                copy_async_16(&place->codes[threadIdx.x % 32], codes + t * codes_of_tile, bytes[t]);
#pragma unroll
                for (int s = 0; s < Tiles<GROUP>::PER_CHUNK; s++)
                    copy_async_4_to(shared_address(&place->scales[threadIdx.x % 32][s]),
                                    scales + t * scales_of_tile + s, bytes[t] / 4);
            }
            codes += 32;
            if (GROUP == 32 || chunk % 2)
                scales += GROUP == 32 ? 16 : 8;
        }
        chunk++;
        to = to + 1 == RING ? 0 : to + 1;
        copy_async_commit(); // also without copies: waiting counts
    }
};

/* One tile's 64 columns times x. */
template <int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_chunk(float (&sum)[NT][4], uint4 codes,
                                                      const unsigned *scales, const uint4 (&x)[2 * NT])
{
    unsigned word[4] = {codes.x, codes.y, codes.z, codes.w};
    float part[NT][4] = {};
#pragma unroll
    for (int step = 0; step < 4; step++) {
        unsigned a[4];
        numbers_of(a, word[step], T());
        uint4 v = x[NT == 1 ? step / 2 : step];
        if constexpr (NT == 1) {
            multiply_add(part[0], a, step % 2 ? v.z : v.x, step % 2 ? v.w : v.y, T());
        } else {
            multiply_add(part[0], a, v.x, v.y, T());
            multiply_add(part[1], a, v.z, v.w, T());
        }
        if (GROUP == 32 && step % 2 == 0 || GROUP == 128 && step < 3)
            continue;
        float2 scale = widen_pair(scales[GROUP == 32 ? step / 2 : 0], f16());
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[j][i] = fmaf(i < 2 ? scale.x : scale.y, part[j][i], sum[j][i]);
                part[j][i] = 0;
            }
    }
}

/* A warp's sums over as many chunks as have their x in shared memory. from: the next slot in use. */
template <int TILES, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_phase(float (&sum)[TILES][NT][4],
                                                      stream<TILES, GROUP> &next, int &from,
                                                      const uint4 *x, int chunks)
{
    int lane = threadIdx.x % 32;
    x += lane;
#pragma unroll 1
    for (; chunks > 0; chunks--, x += 2 * NT * 32) {
        uint4 v[2 * NT];
        next.copy();
        copy_async_wait(STAGES / TILES - 1);
#pragma unroll
        for (int k = 0; k < 2 * NT; k++)
            v[k] = x[k * 32];
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            const slot<GROUP> *here = &next.slots[from][t];
            multiply_chunk<NT, GROUP, T>(sum[t], here->codes[lane], here->scales[lane], v);
        }
        from = from + 1 == STAGES / TILES ? 0 : from + 1;
    }
}

template <int TILES, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply(const T *x, const uint4 *w, const unsigned *scales, T *y,
                                                int m, int n, int k, unsigned parts)
{
    const int ROWS = WARPS * TILES * 16;
    extern __shared__ __align__(16) unsigned shared[]; // x: 32 KB; then the sums. Behind it the slots
    unsigned rank = blockIdx.x % parts, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int chunks = (k + 63) / 64, each = (chunks + parts - 1) / parts;
    int chunk = min((int)rank * each, chunks), end = min(chunk + each, chunks);
    int first_row = blockIdx.y * NT * 8, rows = min(NT * 8, m - first_row);
    int tile = (int)(blockIdx.x / parts * WARPS + warp) * TILES, tiles = (n + 15) / 16, from = 0;
    int first_tile = min(tile, tiles - 1);
    stream<TILES, GROUP> next = {
        (slot<GROUP>(*)[TILES])(shared + 8192) + warp * (STAGES / TILES),
        w + ((long long)first_tile * chunks + chunk) * 32 + lane,
        scales + Tiles<GROUP>::scale_word(k, first_tile * 16 + (int)lane / 4, chunk * 64),
        (long long)chunks * 32,
        Tiles<GROUP>::scale_word(k, 16, 0),
        {},
        chunk,
        end,
        0};
#pragma unroll
    for (int t = 0; t < TILES; t++)
        next.bytes[t] = tile + t < tiles ? 16 : 0;
    for (int i = 0; i < STAGES / TILES - 1; i++)
        next.copy();
    float sum[TILES][NT][4] = {};
    for (int at = chunk; at < end; at += PHASE<NT> / 64) {
        int stop = min(at + PHASE<NT> / 64, end);
        __syncthreads(); // x may still be read
        stage<NT>(shared, x + (long long)first_row * k, rows, k, at * 64, (stop - at) * 64);
        __syncthreads();
        multiply_phase<TILES, NT, GROUP, T>(sum, next, from, (const uint4 *)shared, stop - at);
    }
    __syncthreads();
    finish<TILES, NT>((float *)shared, sum, y + (long long)first_row * n, rows, n, rank, parts);
}

#define ONE_KERNEL(name, TILES, NT, GROUP, T)                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK, 2)                                         \
        name(const T *x, const uint4 *w, const unsigned *scales, T *y, int m, int n, int k,        \
             unsigned parts)                                                                       \
    {                                                                                              \
        multiply<TILES, NT, GROUP>(x, w, scales, y, m, n, k, parts);                               \
    }
#define OF_TYPE(type)                                                                              \
    ONE_KERNEL(tiles32_##type##_8_rows, 1, 1, 32, type)                                            \
    ONE_KERNEL(tiles32_##type##_8_rows_wide, 2, 1, 32, type)                                       \
    ONE_KERNEL(tiles32_##type##_16_rows, 1, 2, 32, type)                                           \
    ONE_KERNEL(tiles32_##type##_16_rows_wide, 2, 2, 32, type)                                      \
    ONE_KERNEL(tiles128_##type##_8_rows, 1, 1, 128, type)                                          \
    ONE_KERNEL(tiles128_##type##_8_rows_wide, 2, 1, 128, type)                                     \
    ONE_KERNEL(tiles128_##type##_16_rows, 1, 2, 128, type)                                         \
    ONE_KERNEL(tiles128_##type##_16_rows_wide, 2, 2, 128, type)
OF_TYPE(bf16)
OF_TYPE(f16)
