/*
 * general.cu: whatever the TMA unit cannot fetch: rows that do not begin at multiples of 16 bytes,
 * other orders, k = 0. Tiles in shared memory and plain multiplications; sums of floats are made in
 * blocks of 128, as the tensor cores' are. Right, not fast.
 */
// arch: sm_89
#include "quantise.h"
#define TILE 64
#define DEPTH 16
#define SIDE 16 /* threads; each makes 4 x 4 results */

/* With the exponent where a float has it, a number is too small by the difference of the biases;
 * that way subnormal ones come out right, too. */
static __device__ __forceinline__ float wide_e4m3(unsigned char x)
{
    float size = __uint_as_float((unsigned)(x & 0x7f) << 20) * 0x1p120f;
    if ((x & 0x7f) == 0x7f)
        size = __uint_as_float(0x7fffffff);
    return x & 0x80 ? -size : size;
}
/* The upper half of an f16. */
static __device__ __forceinline__ float wide_e5m2(unsigned char x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((unsigned short)(x << 8)));
    return y;
}

struct e4m3_pair {
    typedef float sum;
    static __device__ __forceinline__ float wide_a(unsigned char x)
    {
        return wide_e4m3(x);
    }
    static __device__ __forceinline__ float wide_b(unsigned char x)
    {
        return wide_e4m3(x);
    }
};
struct e4m3_e5m2_pair : e4m3_pair {
    static __device__ __forceinline__ float wide_b(unsigned char x)
    {
        return wide_e5m2(x);
    }
};
struct e5m2_e4m3_pair : e4m3_pair {
    static __device__ __forceinline__ float wide_a(unsigned char x)
    {
        return wide_e5m2(x);
    }
};
struct s8_pair {
    typedef int sum;
    static __device__ __forceinline__ int wide_a(unsigned char x)
    {
        return (signed char)x;
    }
    static __device__ __forceinline__ int wide_b(unsigned char x)
    {
        return (signed char)x;
    }
};

/* A thread's sums of one block of k, onto those of the blocks before. */
template <class sum>
static __device__ __forceinline__ void promote(const scaled_arguments &g, sum (&sums)[4][4],
                                               sum (&parts)[4][4], int row, int column, int block,
                                               int matrix)
{
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) {
            float scale = 1;
            if (g.scaling == SCALE_BLOCKS)
                scale = *block_scale_a(g, matrix, smaller(row + y, g.m - 1), block) *
                        *block_scale_b(g, matrix, smaller(column + x, g.n - 1), block);
            sums[y][x] += g.scaling == SCALE_BLOCKS ? (sum)(parts[y][x] * scale) : parts[y][x];
            parts[y][x] = 0;
        }
}

template <class pair> static __device__ __forceinline__ void multiply(const scaled_arguments &g, int matrix)
{
    typedef typename pair::sum sum;
    __shared__ sum tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE + 1];
    int across = (g.n + TILE - 1) / TILE;
    int row = blockIdx.x / across * TILE, column = blockIdx.x % across * TILE;
    int my_row = row + threadIdx.x / SIDE * 4, my_column = column + threadIdx.x % SIDE * 4;
    const unsigned char *a = (const unsigned char *)g.a_data + matrix * g.a_stride;
    const unsigned char *b = (const unsigned char *)g.b_data + matrix * g.b_stride;
    sum sums[4][4] = {}, parts[4][4] = {};
    for (int k = 0; k < g.k; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
            int y = i / DEPTH, z = i % DEPTH;
            bool has_a = row + y < g.m && k + z < g.k, has_b = column + y < g.n && k + z < g.k;
            tile_a[z][y] =
                has_a ? pair::wide_a(a[(row + y) * g.a_row + (k + z) * g.a_column]) : (sum)0;
            tile_b[z][y] =
                has_b ? pair::wide_b(b[(k + z) * g.b_row + (column + y) * g.b_column]) : (sum)0;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH && k + i < g.k; i++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    parts[y][x] += tile_a[i][threadIdx.x / SIDE * 4 + y] *
                                   tile_b[i][threadIdx.x % SIDE * 4 + x];
        __syncthreads();
        if ((k + DEPTH) % SCALE_BLOCK == 0 || k + DEPTH >= g.k)
            promote(g, sums, parts, my_row, my_column, k / SCALE_BLOCK, matrix);
    }
    for (int y = 0; y < 4 && my_row + y < g.m; y++)
        for (int x = 0; x < 4; x += 2) {
            float2 result = finish_pair(g, float2{(float)sums[y][x], (float)sums[y][x + 1]},
                                        my_row + y, my_column + x, matrix);
            store_pair(g, result, my_row + y, my_column + x, matrix);
        }
}

#define GENERAL(name)                                                                              \
    extern "C" __global__ void __launch_bounds__(SIDE *SIDE)                                       \
        general_##name(const __grid_constant__ scaled_arguments g)                                 \
    {                                                                                              \
        for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)                       \
            multiply<name##_pair>(g, matrix);                                                      \
    }
GENERAL(e4m3)
GENERAL(e4m3_e5m2)
GENERAL(e5m2_e4m3)
GENERAL(s8)
