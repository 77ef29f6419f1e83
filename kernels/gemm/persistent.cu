/*
 * persistent.cu: one block for each SM, which makes tile after tile. The producer goes on to the next
 * tile while the consumers still store this one, so the stages never run empty. The order of the tiles
 * suits the L2: GROUP rows of tiles go through the columns together, so that the tiles made at any
 * time share few rows of A and few columns of B.
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
#define GROUP 8 // tune: 2 4 8 16
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */

struct stages {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    barrier full[STAGES], empty[STAGES];
};

/* Where the block's tile lies. A cluster makes a pair of tiles, one below the other. */
struct place {
    int row, column;
};
static __device__ __forceinline__ place place_of(int pair, int pairs_down, int across)
{
    int first = pair / (GROUP * across) * GROUP;
    int height = pairs_down - first < GROUP ? pairs_down - first : GROUP;
    int inside = pair - first * across;
    return place{((first + inside % height) * CLUSTER + (int)cluster_rank()) * BM,
                 inside / height * BN};
}

/* A position in the ring of stages, and the parity of its turn; it goes on from tile to tile. */
struct turn {
    int stage;
    unsigned parity;
    __device__ __forceinline__ void next(void)
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* By one thread: the block's own tile of A, and its half of B's tile for both. */
static __device__ __forceinline__ void produce(stages &s, const tensor_map *a, const tensor_map *b,
                                               turn &at, place tile, int k)
{
    int half = (int)cluster_rank() * (BN / CLUSTER);
    for (int step = 0; step < k; step += BK, at.next()) {
        barrier *full = &s.full[at.stage];
        barrier_wait(&s.empty[at.stage], at.parity ^ 1);
        barrier_arrive_expecting(full, sizeof s.a[0] + sizeof s.b[0]);
        tma_load(s.a[at.stage], a, step, tile.row, full);
        for (int i = half; i < half + BN / CLUSTER; i += 64)
            tma_load_multicast(s.b[at.stage] + i / 64 * BOX, b, tile.column + i, step, full,
                               (1 << CLUSTER) - 1);
    }
}

static __device__ __forceinline__ void leave(barrier *empty)
{
    if (threadIdx.x % 128 < CLUSTER)
        barrier_arrive_in(empty, threadIdx.x % 128);
}

static __device__ __forceinline__ void consume(stages &s, float (&sums)[BN / 2], int group,
                                               turn &at, int k)
{
    for (int step = 0; step < k; step += BK, at.next()) {
        unsigned from_a = shared_address(s.a[at.stage]) + group * BOX;
        unsigned from_b = shared_address(s.b[at.stage]);
        barrier_wait(&s.full[at.stage], at.parity);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            wgmma_bf16<0, 1>(sums, wgmma_tile(from_a + i * 32, 1024, 0),
                             wgmma_tile(from_b + i * 2048, 1024, BOX), step > 0 || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<1>(); /* the products of the stage before this one are done */
        if (step > 0)
            leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
         unsigned short *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stages &s = *(stages *)memory;
    int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
    int pairs_down = (m + CLUSTER * BM - 1) / (CLUSTER * BM), across = (n + BN - 1) / BN;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&s.full[i], 1);
            barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
        }
        barrier_made();
    }
    cluster_sync(); /* the other block's barriers are made, too */
    turn at = {0, 0};
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
            for (int pair = blockIdx.x / CLUSTER; pair < pairs_down * across; pair += clusters)
                produce(s, &a, &b, at, place_of(pair, pairs_down, across), k);
    } else {
        registers_raise_to<232>();
        for (int pair = blockIdx.x / CLUSTER; pair < pairs_down * across; pair += clusters) {
            float sums[BN / 2];
            place tile = place_of(pair, pairs_down, across);
            consume(s, sums, group, at, k);
            store_sums(c, sums, tile.row + group * 64, tile.column, m, n);
        }
    }
    cluster_sync(); /* a block's shared memory stays until the other no longer copies into it */
}
