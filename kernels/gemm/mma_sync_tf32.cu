/*
 * mma_sync_tf32.cu: f32 on tensor cores, for those who can spare the digits: TF32 keeps f32's range
 * and 10 bits behind the point. The products are 16 x 8 x 8, and each factor is rounded in registers
 * before it is multiplied. ldmatrix knows only elements of two bytes. It serves A all the same: four
 * bytes along k are two such elements. It cannot transpose B, so each lane loads its own elements,
 * and the swizzle of B lets the four rows and eight columns of a load meet all 32 banks.
 */
// arch: sm_80
#include "device.h"
#define BM 128
#define BN 128
#define BK 32
#define STAGES 3 // tune: 2 3 4
#define THREADS 256 /* 2 x 4 warps of 64 x 32 elements */
#define CHUNK 4     /* elements of 16 bytes */
#define A_BYTES (BM * BK * 4)
#define STAGE_BYTES (A_BYTES + BK * BN * 4)

/* Chunk `chunk` of a row of A's tile (8 chunks) or B's (32). */
static __device__ __forceinline__ unsigned place_in_a(unsigned row, unsigned chunk)
{
    return row * (BK * 4) + ((chunk ^ row % 8) << 4);
}
static __device__ __forceinline__ unsigned place_in_b(unsigned row, unsigned chunk)
{
    return row * (BN * 4) + ((chunk ^ row % 4 * 2) << 4);
}

/* A chunk of a matrix of `rows` x `columns`; zeros outside of it. */
template <bool WIDE>
static __device__ __forceinline__ void copy_chunk(unsigned to, const float *from, int rows,
                                                  int columns, int y, int x)
{
    const float *at = from + (long long)y * columns + x;
    if (WIDE) {
        bool inside = y < rows && x < columns;
        copy_async_16_to(to, inside ? at : from, inside ? 16 : 0);
    } else {
#pragma unroll
        for (int i = 0; i < CHUNK; i++) {
            bool inside = y < rows && x + i < columns;
            copy_async_4_to(to + i * 4, inside ? at + i : from, inside ? 4 : 0);
        }
    }
}

template <bool WIDE>
static __device__ __forceinline__ void copy_stage(unsigned stage, const float *a, const float *b,
                                                  int m, int n, int k, int row, int column,
                                                  int step)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < BM * BK / CHUNK; i += THREADS)
        copy_chunk<WIDE>(stage + place_in_a(i / 8, i % 8), a, m, k, row + (int)(i / 8),
                         step + (int)(i % 8 * CHUNK));
#pragma unroll
    for (unsigned i = threadIdx.x; i < BK * BN / CHUNK; i += THREADS)
        copy_chunk<WIDE>(stage + A_BYTES + place_in_b(i / 32, i % 32), b, k, n,
                         step + (int)(i / 32), column + (int)(i % 32 * CHUNK));
    copy_async_commit();
}

static __device__ __forceinline__ unsigned round_to_tf32(unsigned bits)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
}

/* 16 rows of A and 8 steps of k. */
static __device__ __forceinline__ void load_of_a(unsigned (&to)[4], unsigned shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
#pragma unroll
    for (int i = 0; i < 4; i++)
        to[i] = round_to_tf32(to[i]);
}

/* The element of B in the row and the column that the tensor core expects of this lane. */
static __device__ __forceinline__ unsigned load_of_b(unsigned tile, unsigned row, unsigned column)
{
    unsigned bits;
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(bits)
                 : "r"(tile + place_in_b(row, column / 4) + column % 4 * 4)
                 : "memory");
    return round_to_tf32(bits);
}

static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],
                                                const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* One stage, for the warp's 64 x 32 elements: sums[down][across]. */
static __device__ __forceinline__ void multiply_stage(float (&sums)[4][4][4], unsigned stage,
                                                      unsigned down, unsigned across)
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned k = 0; k < BK; k += 8) {
        unsigned of_a[4][4], of_b[4][2];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            load_of_a(of_a[i],
                      stage + place_in_a(down + i * 16 + lane % 16, k / CHUNK + lane / 16));
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
#pragma unroll
            for (unsigned h = 0; h < 2; h++)
                of_b[j][h] = load_of_b(stage + A_BYTES, k + h * 4 + lane % 4,
                                       across + j * 8 + lane / 4);
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                multiply(sums[i][j], of_a[i], of_b[j]);
    }
}

static __device__ __forceinline__ void store_pair(float *c, int m, int n, int y, int x, float low,
                                                  float high)
{
    float *at = c + (long long)y * n + x;
    if (y >= m)
        return;
    if (x + 1 < n && (unsigned long long)at % 8 == 0) {
        *(float2 *)at = make_float2(low, high);
    } else {
        if (x < n)
            at[0] = low;
        if (x + 1 < n)
            at[1] = high;
    }
}

template <bool WIDE>
static __device__ __forceinline__ void gemm(const float *a, const float *b, float *c, int m, int n,
                                            int k)
{
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned stages = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down = warp / 4 * 64, across = warp % 4 * 32;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN;
    float sums[4][4][4] = {0};
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage<WIDE>(stages + i * STAGE_BYTES, a, b, m, n, k, row, column, i * BK);
    for (int step = 0, at = 0; step < k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage<WIDE>(stages + (at + STAGES - 1) % STAGES * STAGE_BYTES, a, b, m, n, k, row,
                         column, step + (STAGES - 1) * BK);
        multiply_stage(sums, stages + at * STAGE_BYTES, down, across);
    }
    copy_async_wait(0);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
#pragma unroll
            for (unsigned h = 0; h < 2; h++)
                store_pair(c, m, n, row + (int)(down + i * 16 + h * 8 + lane / 4),
                           column + (int)(across + j * 8 + lane % 4 * 2), sums[i][j][2 * h],
                           sums[i][j][2 * h + 1]);
}

/* Where rows of A and B begin at multiples of 16 bytes, and where they do not. */
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_wide(const float *a, const float *b, float *c, int m, int n, int k)
{
    gemm<true>(a, b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_any(const float *a, const float *b, float *c, int m, int n, int k)
{
    gemm<false>(a, b, c, m, n, k);
}
