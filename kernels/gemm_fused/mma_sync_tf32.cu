/*
 * mma_sync_tf32.cu: f32 whose factors may be rounded to TF32, where TMA or wgmma cannot help: every
 * layout, alignment and size, with batches and epilogues. As kernels/gemm/mma_sync_tf32.cu, but both
 * tiles have their k along lines, whatever the matrices have: so ldmatrix serves both. What lies so
 * in memory and begins at multiples of 16 bytes comes in chunks, the rest element by element.
 */
// arch: sm_80
#include "generic.h"
#include "matrix_loads.h"
#define BM 128
#define BN 128
#define BK 32
#define STAGES 3
#define THREADS 256 /* 2 x 4 warps of 64 x 32 elements */
#define CHUNK 4     /* elements of 16 bytes */
#define A_BYTES (BM * BK * 4)
#define STAGE_BYTES (A_BYTES + BN * BK * 4)

/* Chunk `chunk` of a line of A's or B's tile, 8 chunks long. */
static __device__ __forceinline__ unsigned place_in(unsigned line, unsigned chunk)
{
    return line * (BK * 4) + ((chunk ^ line % 8) << 4);
}

/* A matrix as its lines along k. */
struct factor {
    const float *at;
    int lines, k;
    long long line_step, k_step;
    bool wide; /* chunks of 16 bytes */
};
static __device__ __forceinline__ factor factor_of(const void *data, long long offset, int lines,
                                                   int k, long long line_step, long long k_step)
{
    const float *at = (const float *)data + offset;
    return factor{at, lines, k, line_step, k_step,
                  k_step == 1 && line_step % CHUNK == 0 && (unsigned long long)at % 16 == 0};
}

/* 32 of k of 128 lines; zeros outside the matrix. Neighbouring threads take neighbours in memory. */
static __device__ __forceinline__ void copy_tile(unsigned to, const factor &from, int line,
                                                 int step)
{
    if (from.wide) {
#pragma unroll 1
        for (unsigned t = 0; t < BM * BK / CHUNK / THREADS; t++) {
            unsigned i = threadIdx.x + t * THREADS;
            int y = line + (int)(i / 8), x = step + (int)(i % 8 * CHUNK);
            int count = y < from.lines ? smaller(from.k - x, CHUNK) : 0;
            copy_async_16_to(to + place_in(i / 8, i % 8),
                             count > 0 ? from.at + y * from.line_step + x : from.at,
                             count > 0 ? count * 4 : 0);
        }
        return;
    }
    bool along = from.k_step == 1;
#pragma unroll 1
    for (unsigned t = 0; t < BM * BK / THREADS; t++) {
        unsigned i = threadIdx.x + t * THREADS;
        unsigned y = along ? i / BK : i % BM, x = along ? i % BK : i / BM;
        bool inside = line + (int)y < from.lines && step + (int)x < from.k;
        copy_async_4_to(to + place_in(y, x / CHUNK) + x % CHUNK * 4,
                        inside ? from.at + (line + (int)y) * from.line_step +
                                     (step + (int)x) * from.k_step
                               : from.at,
                        inside ? 4 : 0);
    }
}
static __device__ __forceinline__ void copy_stage(unsigned stage, const factor &a, const factor &b,
                                                  int row, int column, int step)
{
    copy_tile(stage, a, row, step);
    copy_tile(stage + A_BYTES, b, column, step);
    copy_async_commit();
}

/* Four matrices of eight lines and four of k, rounded: four bytes are two numbers of 16 bits. */
static __device__ __forceinline__ void load_rounded(unsigned (&to)[4], unsigned shared)
{
    load_matrices(to, shared);
#pragma unroll
    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to[i]) : "f"(__uint_as_float(to[i])));
}

static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],
                                                unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* One stage, for the warp's 64 x 32 elements: sums[down][across]. */
static __device__ __forceinline__ void multiply_stage(float (&sums)[4][4][4], unsigned stage,
                                                      unsigned down, unsigned across)
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll 2 /* more would take more registers than there are */
    for (unsigned k = 0; k < BK; k += 8) {
        unsigned of_a[4][4], of_b[2][4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            load_rounded(of_a[i],
                          stage + place_in(down + i * 16 + lane % 16, k / CHUNK + lane / 16));
        /* 16 columns: eight of them and both halves of k, then the next eight. */
#pragma unroll
        for (unsigned j = 0; j < 2; j++)
            load_rounded(of_b[j],
                          stage + A_BYTES + place_in(across + j * 16 + lane / 16 * 8 + lane % 8,
                                                     k / CHUNK + lane / 8 % 2));
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
    }
}

static __device__ __forceinline__ void multiply_matrix(const gemm_arguments &g, int matrix)
{
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned stages = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down = warp / 4 * 64, across = warp % 4 * 32;
    int tiles_across = (g.n + BN - 1) / BN;
    int row = (int)blockIdx.x / tiles_across * BM, column = (int)blockIdx.x % tiles_across * BN;
    factor a = factor_of(g.a_data, matrix * g.a_stride, g.m, g.k, g.a_row, g.a_column);
    factor b = factor_of(g.b_data, matrix * g.b_stride, g.n, g.k, g.b_column, g.b_row);
    float sums[4][4][4] = {};
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage(stages + i * STAGE_BYTES, a, b, row, column, i * BK);
    for (int step = 0, at = 0; step < g.k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage(stages + (at + STAGES - 1) % STAGES * STAGE_BYTES, a, b, row, column,
                   step + (STAGES - 1) * BK);
        multiply_stage(sums, stages + at * STAGE_BYTES, down, across);
    }
    copy_async_wait(0);
    row += (int)(down + lane / 4);
    column += (int)(across + lane % 4 * 2);
#pragma unroll
    for (int p = 0; p < 32; p++) {
        const float(&of)[4] = sums[p / 8][p / 2 % 4];
        int y = row + p / 8 * 16 + p % 2 * 8, x = column + p / 2 % 4 * 8;
        float2 sum = {of[p % 2 * 2], of[p % 2 * 2 + 1]};
        store_pair<f32_numbers>(g, finish<f32_numbers>(g, sum, y, x, matrix), y, x, matrix);
    }
    __syncthreads(); /* the next matrix takes the same shared memory */
}

extern "C" __global__ void __launch_bounds__(THREADS)
    mma_sync_tf32(const __grid_constant__ gemm_arguments g)
{
    for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)
        multiply_matrix(g, matrix);
}
