/*
 * warp_specialised.cu: who copies does not multiply. One warp fills the stages, as far ahead as there
 * is room; two warpgroups empty them, each at its own pace: no barrier for the whole block is left.
 * The producer gives most of its registers to the consumers, which then have room for 64 x 256 sums
 * each: a tile of 128 x 256 is read with a third fewer bytes for each product than one of 128 x 128.
 */
// arch: sm_90a
#include "store.h"
#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 256
#define BK 64     /* a line of the swizzle: 128 bytes */
#define STAGES 4 // tune: 3 4
#define CONSUMERS 2
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */

struct stages {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    barrier full[STAGES], empty[STAGES];
};

/* By one thread. A stage is filled again when both consumers have left it. */
static __device__ __forceinline__ void produce(stages &s, const tensor_map *a, const tensor_map *b,
                                               int row, int column, int k)
{
    for (int step = 0, turn = 0; step < k; step += BK, turn++) {
        int at = turn % STAGES;
        barrier_wait(&s.empty[at], turn / STAGES % 2 ^ 1);
        barrier_arrive_expecting(&s.full[at], sizeof s.a[0] + sizeof s.b[0]);
        tma_load(s.a[at], a, step, row, &s.full[at]);
        for (int i = 0; i < BN / 64; i++)
            tma_load(s.b[at] + i * BOX, b, column + i * 64, step, &s.full[at]);
    }
}

static __device__ __forceinline__ void consume(stages &s, float (&sums)[BN / 2], int group, int k)
{
    for (int step = 0, turn = 0; step < k; step += BK, turn++) {
        int at = turn % STAGES, before = (turn + STAGES - 1) % STAGES;
        unsigned from_a = shared_address(s.a[at]) + group * BOX;
        unsigned from_b = shared_address(s.b[at]);
        barrier_wait(&s.full[at], turn / STAGES % 2);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            wgmma_bf16<0, 1>(sums, wgmma_tile(from_a + i * 32, 1024, 0),
                             wgmma_tile(from_b + i * 2048, 1024, BOX), step > 0 || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<1>(); /* the products of the stage before this one are done */
        if (turn > 0 && threadIdx.x % 128 == 0)
            barrier_arrive(&s.empty[before]);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
         unsigned short *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stages &s = *(stages *)memory;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN, group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&s.full[i], 1);
            barrier_make(&s.empty[i], CONSUMERS);
        }
        barrier_made();
    }
    __syncthreads();
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
            produce(s, &a, &b, row, column, k);
    } else {
        registers_raise_to<232>();
        float sums[BN / 2];
        consume(s, sums, group, k);
        store_sums(c, sums, row + group * 64, column, m, n);
    }
}
