/*
 * mma_sync.cu: 8-bit products of 16 x 8 x 32 by a warp, from sm_89 on. The shape of
 * kernels/gemm/mma_sync.cu, and simpler: A by rows and B by columns both lie along k, four numbers
 * to a register, so that ldmatrix, which moves pairs of bytes, serves both without transposing.
 * A stage is 128 of k, also a block of scales: where it ends, sums of FP8 are promoted.
 *
 * What TMA cannot fetch comes this way, too: other orders and rows at odd addresses, byte by byte.
 */
// arch: sm_89
#include "matrix_loads.h"
#include "quantise.h"
#define BM 128
#define BN 128
#define BK 128
#define STAGES 3 // tune: 2 3 4
#define THREADS 256 /* 2 x 4 warps of 64 x 32 elements */
#define CHUNK 16
#define A_BYTES (BM * BK)
#define STAGE_BYTES (A_BYTES + BN * BK)

/* Types of numbers: their product, and whether sums must be promoted. */
#define FLOATS(name, types)                                                                        \
    struct name##_product {                                                                        \
        typedef float sum;                                                                         \
        static const bool PROMOTED = true;                                                         \
        static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],  \
                                                        unsigned b0, unsigned b1)                  \
        {                                                                                          \
            asm("mma.sync.aligned.m16n8k32.row.col.f32." types ".f32 {%0, %1, %2, %3}, "           \
                "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                    \
                : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                       \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                   \
        }                                                                                          \
    };
FLOATS(e4m3, "e4m3.e4m3")
FLOATS(e4m3_e5m2, "e4m3.e5m2")
FLOATS(e5m2_e4m3, "e5m2.e4m3")
struct s8_product {
    typedef int sum;
    static const bool PROMOTED = false;
    static __device__ __forceinline__ void multiply(int (&sums)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1)
    {
        asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

/* Chunk `chunk` of a line of A's or B's tile, 8 chunks long. */
static __device__ __forceinline__ unsigned place_in(unsigned line, unsigned chunk)
{
    return line * BK + ((chunk ^ line % 8) << 4);
}

/* 128 bytes along k of each of 128 lines; zeros outside the matrix. */
template <bool WIDE>
static __device__ __forceinline__ void copy_tile(unsigned to, const unsigned char *from, int lines,
                                                 int k, long long line_step, long long k_step,
                                                 int line, int step)
{
#pragma unroll 1
    for (unsigned t = 0; t < BM * BK / CHUNK / THREADS; t++) {
        unsigned i = threadIdx.x + t * THREADS;
        int y = line + (int)(i / 8), x = step + (int)(i % 8 * CHUNK);
        int count = y < lines ? smaller(k - x, CHUNK) : 0;
        if (WIDE) {
            copy_async_16_to(to + place_in(i / 8, i % 8), count > 0 ? from + y * line_step + x : from,
                             count > 0 ? count : 0);
            continue;
        }
        unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
        for (int j = 0; j < CHUNK; j++)
            if (j < count)
                words[j / 4] |= (unsigned)from[y * line_step + (x + j) * k_step] << j % 4 * 8;
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + place_in(i / 8, i % 8)),
                     "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    }
}
template <bool WIDE>
static __device__ __forceinline__ void copy_stage(const scaled_arguments &g, unsigned stage,
                                                  int row, int column, int step, int matrix)
{
    copy_tile<WIDE>(stage, (const unsigned char *)g.a_data + matrix * g.a_stride, g.m, g.k, g.a_row, g.a_column, row,
                    step);
    copy_tile<WIDE>(stage + A_BYTES, (const unsigned char *)g.b_data + matrix * g.b_stride, g.n, g.k, g.b_column, g.b_row,
                    column, step);
    copy_async_commit();
}

/* One stage, for the warp's 64 x 32 elements: sums[down][across]. */
template <class product>
static __device__ __forceinline__ void multiply_stage(typename product::sum (&sums)[4][4][4],
                                                      unsigned stage, unsigned down,
                                                      unsigned across)
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll 1 /* Hopper's compiler makes f16 of FP8, in registers that two sets of sums leave */
    for (unsigned k = 0; k < BK; k += 32) {
        unsigned of_a[4][4], of_b[2][4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            load_matrices(of_a[i],
                          stage + place_in(down + i * 16 + lane % 16, k / CHUNK + lane / 16));
        /* 16 columns: eight of them and both halves of k, then the next eight. */
#pragma unroll
        for (unsigned j = 0; j < 2; j++)
            load_matrices(of_b[j],
                          stage + A_BYTES + place_in(across + j * 16 + lane / 16 * 8 + lane % 8,
                                                     k / CHUNK + lane / 8 % 2));
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                product::multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2],
                                  of_b[j / 2][j % 2 * 2 + 1]);
    }
}

/* The sums of a block of k, onto those of the blocks before. A tile's columns have one scale. */
template <class sum>
static __device__ __forceinline__ void promote(const scaled_arguments &g, float (&sums)[4][4][4],
                                               sum (&parts)[4][4][4], int row, int column,
                                               int block, int matrix)
{
    float of_b = g.scaling == SCALE_BLOCKS ? *block_scale_b(g, matrix, column, block) : 1;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float scale = of_b;
            if (g.scaling == SCALE_BLOCKS)
                scale *= *block_scale_a(g, matrix, smaller(row + i * 16 + h * 8, g.m - 1), block);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int x = 0; x < 2; x++) {
                    sums[i][j][h * 2 + x] += (float)parts[i][j][h * 2 + x] * scale;
                    parts[i][j][h * 2 + x] = 0;
                }
        }
}

/* Finished numbers into e4m3 with a scale for each row of the tile, 128 columns: the four warps
 * across it compare what they have in shared memory. */
static __device__ __forceinline__ void quantise_tile(const scaled_arguments &g,
                                                     float (&results)[4][4][4], unsigned *largest,
                                                     unsigned down, int row, int column, int matrix)
{
    unsigned lane = threadIdx.x % 32;
    __syncthreads(); /* the stages are free */
    if (threadIdx.x < BM)
        largest[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most = 0;
#pragma unroll
            for (int j = 0; j < 4; j++)
                most = fmaxf(most, fmaxf(fabsf(results[i][j][h * 2]),
                                         fabsf(results[i][j][h * 2 + 1])));
            /* Floats that are not negative have the order of their bits. */
            atomicMax(&largest[down + i * 16 + h * 8 + lane / 4], __float_as_uint(most));
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            quantiser q =
                quantiser_of(__uint_as_float(largest[down + i * 16 + h * 8 + lane / 4]));
#pragma unroll
            for (int j = 0; j < 4; j++) {
                results[i][j][h * 2] *= q.factor;
                results[i][j][h * 2 + 1] *= q.factor;
            }
        }
    if (threadIdx.x < BM && row + (int)threadIdx.x < g.m)
        ((float *)g.scale_out)[((long long)matrix * blocks_of(g.n) + column / SCALE_BLOCK) * g.m +
                               row + threadIdx.x] =
            quantiser_of(__uint_as_float(largest[threadIdx.x])).scale;
}

template <class product, bool WIDE>
static __device__ __forceinline__ void multiply(const scaled_arguments &g, int matrix)
{
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned stages = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down = warp / 4 * 64, across = warp % 4 * 32;
    int tiles_across = (g.n + BN - 1) / BN;
    int row = (int)blockIdx.x / tiles_across * BM, column = (int)blockIdx.x % tiles_across * BN;
    int my_row = row + (int)(down + lane / 4), my_column = column + (int)(across + lane % 4 * 2);
    bool promotes = product::PROMOTED && !g.fast;
    typename product::sum parts[4][4][4] = {};
    float sums[4][4][4] = {};
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage<WIDE>(g, stages + i * STAGE_BYTES, row, column, i * BK, matrix);
    for (int step = 0, at = 0; step < g.k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage<WIDE>(g, stages + (at + STAGES - 1) % STAGES * STAGE_BYTES, row, column,
                         step + (STAGES - 1) * BK, matrix);
        multiply_stage<product>(parts, stages + at * STAGE_BYTES, down, across);
        if (promotes)
            promote(g, sums, parts, my_row, column, step / BK, matrix);
    }
    copy_async_wait(0);
    if (!promotes)
        promote(g, sums, parts, my_row, column, 0, matrix);
#pragma unroll
    for (int p = 0; p < 32; p++) {
        float(&of)[4] = sums[p / 8][p / 2 % 4];
        float2 x = finish_pair(g, float2{of[p % 2 * 2], of[p % 2 * 2 + 1]},
                               my_row + p / 8 * 16 + p % 2 * 8, my_column + p / 2 % 4 * 8, matrix);
        of[p % 2 * 2] = x.x;
        of[p % 2 * 2 + 1] = x.y;
    }
    if (g.quantises)
        quantise_tile(g, sums, (unsigned *)memory, down, row, column, matrix);
#pragma unroll
    for (int p = 0; p < 32; p++) {
        const float(&of)[4] = sums[p / 8][p / 2 % 4];
        store_pair(g, float2{of[p % 2 * 2], of[p % 2 * 2 + 1]}, my_row + p / 8 * 16 + p % 2 * 8,
                   my_column + p / 2 % 4 * 8, matrix);
    }
    __syncthreads(); /* the next matrix takes the same shared memory */
}

/* WIDE: lines of A and B lie along k and begin at multiples of 16 bytes. */
#define GEMM(name)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        mma_wide_##name(const __grid_constant__ scaled_arguments g)                                \
    {                                                                                              \
        for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)                       \
            multiply<name##_product, true>(g, matrix);                                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        mma_any_##name(const __grid_constant__ scaled_arguments g)                                 \
    {                                                                                              \
        for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)                       \
            multiply<name##_product, false>(g, matrix);                                            \
    }
GEMM(e4m3)
GEMM(e4m3_e5m2)
GEMM(e5m2_e4m3)
GEMM(s8)
