/*
 * wgmma.cu: the product of a tile as one instruction of a warpgroup. Its factors are read from shared
 * memory by the tensor cores themselves, so the loads into registers of mma_sync.cu go away; four
 * products of 64 x 128 x 16 take in a whole stage. Tiles still come by cp.async, and every thread
 * computes the swizzled place of each of its chunks.
 */
// arch: sm_90a
#include "store.h"
#include "wgmma.h"
#define BM 128
#define BN 128
#define BK 64
#define STAGES 3 // tune: 3 4 5
#define THREADS 256 /* a warpgroup for each 64 rows */
#define CHUNK 8     /* elements of 16 bytes */
#define BOX (64 * 128)            /* bytes of 64 lines of the swizzle */
#define A_BYTES (BM * BK * 2)
#define STAGE_BYTES (A_BYTES + BK * BN * 2)

/* A line of the swizzle is 128 bytes long; its chunks are permuted by XOR with its number. */
static __device__ __forceinline__ unsigned swizzled(unsigned line, unsigned chunk)
{
    return line * 128 + ((chunk ^ line % 8) << 4);
}

/* Chunks outside the matrices are zeros. Rows and columns hold whole chunks. */
static __device__ __forceinline__ void copy_stage(unsigned stage, const unsigned short *a,
                                                  const unsigned short *b, int m, int n, int k,
                                                  int row, int column, int step)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < BM * BK / CHUNK; i += THREADS) {
        int y = row + (int)(i / 8), x = step + (int)(i % 8 * CHUNK);
        bool inside = y < m && x < k;
        copy_async_16_to(stage + swizzled(i / 8, i % 8), inside ? a + (long long)y * k + x : a,
                         inside ? 16 : 0);
    }
#pragma unroll
    for (unsigned i = threadIdx.x; i < BK * BN / CHUNK; i += THREADS) {
        unsigned line = i / (BN / CHUNK), chunk = i % (BN / CHUNK);
        int y = step + (int)line, x = column + (int)(chunk * CHUNK);
        bool inside = y < k && x < n;
        copy_async_16_to(stage + A_BYTES + chunk / 8 * BOX + swizzled(line, chunk % 8),
                         inside ? b + (long long)y * n + x : b, inside ? 16 : 0);
    }
    copy_async_commit();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(const unsigned short *a, const unsigned short *b, unsigned short *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    unsigned stages = shared_address(memory), group = threadIdx.x / 128;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN;
    float sums[BN / 2] = {0};
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage(stages + i * STAGE_BYTES, a, b, m, n, k, row, column, i * BK);
    for (int step = 0, at = 0; step < k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma reads what I copied */
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage(stages + (at + STAGES - 1) % STAGES * STAGE_BYTES, a, b, m, n, k, row, column,
                   step + (STAGES - 1) * BK);
        unsigned from_a = stages + at * STAGE_BYTES + group * BOX;
        unsigned from_b = stages + at * STAGE_BYTES + A_BYTES;
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++) /* A lies along k, B across it */
            wgmma_bf16<0, 1>(sums, wgmma_tile(from_a + i * 32, 1024, 0),
                             wgmma_tile(from_b + i * 2048, 1024, BOX), 1);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_hold(sums);
    }
    store_sums(c, sums, row + (int)group * 64, column, m, n);
}
