/*
 * tma.cu: one thread asks for a whole tile, and the TMA unit copies it: it computes the addresses,
 * applies the swizzle, fills with zeros what lies outside the matrices, and counts the bytes at the
 * stage's barrier. The other 255 threads only multiply.
 */
// arch: sm_90a
#include "store.h"
#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 128
#define BK 64     /* a line of the swizzle: 128 bytes */
#define STAGES 4 // tune: 3 4 5 6
#define THREADS 256 /* a warpgroup for each 64 rows */
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */

struct stages {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    barrier full[STAGES];
};

/* A's tile is one box of lines along k, B's is boxes of 64 columns, a line for each k. */
static __device__ __forceinline__ void load_stage(stages &s, int stage, const tensor_map *a,
                                                  const tensor_map *b, int row, int column, int k)
{
    barrier_arrive_expecting(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
    tma_load(s.a[stage], a, k, row, &s.full[stage]);
    for (int i = 0; i < BN / 64; i++)
        tma_load(s.b[stage] + i * BOX, b, column + i * 64, k, &s.full[stage]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
         unsigned short *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stages &s = *(stages *)memory;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN, group = threadIdx.x / 128;
    bool asks = threadIdx.x / 32 == 0 && elect_one();
    if (asks) {
        for (int i = 0; i < STAGES; i++)
            barrier_make(&s.full[i], 1);
        barrier_made();
        for (int i = 0; i < STAGES - 1 && i * BK < k; i++)
            load_stage(s, i, &a, &b, row, column, i * BK);
    }
    __syncthreads();
    float sums[BN / 2] = {0};
    for (int step = 0, turn = 0; step < k; step += BK, turn++) {
        int at = turn % STAGES, ahead = (turn + STAGES - 1) % STAGES;
        barrier_wait(&s.full[at], turn / STAGES % 2);
        unsigned from_a = shared_address(s.a[at]) + group * BOX;
        unsigned from_b = shared_address(s.b[at]);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            wgmma_bf16<0, 1>(sums, wgmma_tile(from_a + i * 32, 1024, 0),
                             wgmma_tile(from_b + i * 2048, 1024, BOX), 1);
        wgmma_commit();
        wgmma_wait<1>(); /* the products of the stage before this one are done, */
        wgmma_hold(sums);
        __syncthreads(); /* in both warpgroups: it can be filled anew */
        if (asks && step + (STAGES - 1) * BK < k)
            load_stage(s, ahead, &a, &b, row, column, step + (STAGES - 1) * BK);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    store_sums(c, sums, row + group * 64, column, m, n);
}
