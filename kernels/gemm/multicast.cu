/*
 * multicast.cu: clusters of two blocks, one below the other. Both need the same columns of B, so each
 * fetches half of that tile and the TMA unit delivers it to both: the L2 is asked for a third fewer
 * bytes. A stage may be filled again when the consumers of both blocks have left it.
 */
// arch: sm_90a
#include "store.h"
#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 256
#define BK 64     /* a line of the swizzle: 128 bytes */
#define STAGES 4 // tune: 3 4
#define CLUSTER 2
#define CONSUMERS 2
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */

struct stages {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    barrier full[STAGES], empty[STAGES];
};

/* By one thread: the block's own tile of A, and its half of B's tile for both. */
static __device__ __forceinline__ void produce(stages &s, const tensor_map *a, const tensor_map *b,
                                               int row, int column, int k)
{
    int half = (int)cluster_rank() * (BN / CLUSTER);
    for (int step = 0, turn = 0; step < k; step += BK, turn++) {
        int at = turn % STAGES;
        barrier_wait(&s.empty[at], turn / STAGES % 2 ^ 1);
        barrier_arrive_expecting(&s.full[at], sizeof s.a[0] + sizeof s.b[0]);
        tma_load(s.a[at], a, step, row, &s.full[at]);
        for (int i = half; i < half + BN / CLUSTER; i += 64)
            tma_load_multicast(s.b[at] + i / 64 * BOX, b, column + i, step, &s.full[at],
                               (1 << CLUSTER) - 1);
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
        if (turn > 0 && threadIdx.x % 128 < CLUSTER)
            barrier_arrive_in(&s.empty[before], threadIdx.x % 128);
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
            barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
        }
        barrier_made();
    }
    cluster_sync(); /* the other block's barriers are made, too */
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
    cluster_sync(); /* a block's shared memory stays until the other no longer copies into it */
}
