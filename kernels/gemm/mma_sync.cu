/*
 * mma_sync.cu: products of 16 x 8 x 16 by a warp, straight from registers. ldmatrix loads four 8 x 8
 * matrices of a factor with one instruction, each lane naming a row of 16 bytes; where B lies by rows
 * it transposes on the way. The chunks of a row are permuted by XOR with the row's number, so that
 * the eight rows of a matrix meet all banks. Tiles come by cp.async, STAGES of them. f16 and bf16
 * differ in two instructions: the product, and the rounding of C.
 */
// arch: sm_80
#include "device.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128 256
#define BK 64
#define STAGES 3 // tune: 2 3 4
#define WARPS_ACROSS (BN / 32) /* of 64 x 32 elements */
#define THREADS (BM / 64 * WARPS_ACROSS * 32)
#define CHUNK 8     /* elements of 16 bytes */
#define A_BYTES (BM * BK * 2)
#define STAGE_BYTES (A_BYTES + BK * BN * 2)

/* Chunk `chunk` of a row of A's tile (8 chunks) or B's (BN / 8). */
static __device__ __forceinline__ unsigned place_in_a(unsigned row, unsigned chunk)
{
    return row * (BK * 2) + ((chunk ^ row % 8) << 4);
}
static __device__ __forceinline__ unsigned place_in_b(unsigned row, unsigned chunk)
{
    return row * (BN * 2) + ((chunk ^ row % 8) << 4);
}

/* A chunk of a matrix of `rows` x `columns`; zeros outside of it. Where rows do not begin at
 * multiples of 16 bytes, element by element, past no asynchronous unit. */
template <bool WIDE>
static __device__ __forceinline__ void copy_chunk(unsigned to, const unsigned short *from, int rows,
                                                  int columns, int y, int x)
{
    const unsigned short *at = from + (long long)y * columns + x;
    if (WIDE) {
        bool inside = y < rows && x < columns;
        copy_async_16_to(to, inside ? at : from, inside ? 16 : 0);
    } else {
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned low = y < rows && x + 2 * i < columns ? at[2 * i] : 0;
            unsigned high = y < rows && x + 2 * i + 1 < columns ? at[2 * i + 1] : 0;
            words[i] = low | high << 16;
        }
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
                     "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    }
}

template <bool WIDE>
static __device__ __forceinline__ void copy_stage(unsigned stage, const unsigned short *a,
                                                  const unsigned short *b, int m, int n, int k,
                                                  int row, int column, int step)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < BM * BK / CHUNK; i += THREADS)
        copy_chunk<WIDE>(stage + place_in_a(i / 8, i % 8), a, m, k, row + (int)(i / 8),
                         step + (int)(i % 8 * CHUNK));
#pragma unroll
    for (unsigned i = threadIdx.x; i < BK * BN / CHUNK; i += THREADS)
        copy_chunk<WIDE>(stage + A_BYTES + place_in_b(i / (BN / CHUNK), i % (BN / CHUNK)), b, k, n,
                         step + (int)(i / (BN / CHUNK)), column + (int)(i % (BN / CHUNK) * CHUNK));
    copy_async_commit();
}

static __device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
}
static __device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
}
struct f16 {
    static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1)
    {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        unsigned both;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
};
struct bf16 {
    static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1)
    {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        unsigned both;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
};

/* One stage, for the warp's 64 x 32 elements: sums[down][across]. */
template <class type>
static __device__ __forceinline__ void multiply_stage(float (&sums)[4][4][4], unsigned stage,
                                                      unsigned down, unsigned across)
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned k = 0; k < BK; k += 16) {
        unsigned of_a[4][4], of_b[2][4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            load_matrices(of_a[i], stage + place_in_a(down + i * 16 + lane % 16,
                                                      k / CHUNK + lane / 16));
#pragma unroll
        for (unsigned j = 0; j < 2; j++)
            load_transposed(of_b[j], stage + A_BYTES + place_in_b(k + lane % 16,
                                                                 (across + j * 16) / CHUNK + lane / 16));
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                type::multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2],
                               of_b[j / 2][j % 2 * 2 + 1]);
    }
}

/* Two neighbours of C. */
static __device__ __forceinline__ void store_pair(unsigned short *c, int m, int n, int y, int x,
                                                  unsigned both)
{
    unsigned short *at = c + (long long)y * n + x;
    if (y >= m)
        return;
    if (x + 1 < n && (unsigned long long)at % 4 == 0) {
        *(unsigned *)at = both;
    } else {
        if (x < n)
            at[0] = (unsigned short)both;
        if (x + 1 < n)
            at[1] = (unsigned short)(both >> 16);
    }
}

template <class type, bool WIDE>
static __device__ __forceinline__ void gemm(const unsigned short *a, const unsigned short *b,
                                            unsigned short *c, int m, int n, int k)
{
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned stages = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down = warp / WARPS_ACROSS * 64, across = warp % WARPS_ACROSS * 32;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN;
    float sums[4][4][4] = {0};
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage<WIDE>(stages + i * STAGE_BYTES, a, b, m, n, k, row, column, i * BK);
    for (int step = 0, at = 0; step < k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage<WIDE>(stages + (at + STAGES - 1) % STAGES * STAGE_BYTES, a, b, m, n, k, row,
                         column, step + (STAGES - 1) * BK);
        multiply_stage<type>(sums, stages + at * STAGE_BYTES, down, across);
    }
    copy_async_wait(0);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
#pragma unroll
            for (unsigned h = 0; h < 2; h++)
                store_pair(c, m, n, row + (int)(down + i * 16 + h * 8 + lane / 4),
                           column + (int)(across + j * 8 + lane % 4 * 2),
                           type::pack(sums[i][j][2 * h], sums[i][j][2 * h + 1]));
}

/* WIDE: rows begin at multiples of 16 bytes. */
#define GEMM(name, type, wide)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        name(const unsigned short *a, const unsigned short *b, unsigned short *c, int m, int n,    \
             int k)                                                                                \
    {                                                                                              \
        gemm<type, wide>(a, b, c, m, n, k);                                                        \
    }
GEMM(gemm_wide_bf16, bf16, true)
GEMM(gemm_any_bf16, bf16, false)
GEMM(gemm_wide_f16, f16, true)
GEMM(gemm_any_f16, f16, false)
