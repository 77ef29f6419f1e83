/*
 * overlapped.cu: C leaves by TMA as well. A consumer packs 64 columns of its part of the tile into
 * shared memory with stmatrix, in lines of the swizzle, and one thread hands them to the TMA unit,
 * while the warpgroup goes on to the next 64 and then to the next tile. The scattered 4-byte stores
 * of persistent.cu become whole lines. The launch overlaps, too: the next kernel may set up its
 * barriers while this one ends.
 */
// arch: sm_90a
#include "store.h" /* pack_bf16 */
#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 256
#define BK 64     /* a line of the swizzle: 128 bytes */
#define STAGES 4
#define CLUSTER 2
#define CONSUMERS 2
#define GROUP 8 // tune: 2 4 8 16
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */
#define LEAVING 2      /* boxes of a consumer that are on their way out */

struct stages {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    unsigned char c[CONSUMERS][LEAVING][BOX];
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

/* Four 8 x 8 matrices; each lane names a row of one of them. */
static __device__ __forceinline__ void store_matrices(unsigned shared, const unsigned (&m)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared),
                 "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
}

static __device__ __forceinline__ void sync_consumer(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

/* The consumer's sums into shared memory, and from there to C, 64 columns at a time. */
static __device__ __forceinline__ void store(stages &s, const float (&sums)[BN / 2], int group,
                                             const tensor_map *c, place tile)
{
    unsigned lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    bool asks = threadIdx.x % 128 == 0;
#pragma unroll
    for (int box = 0; box < BN / 64; box++) {
        unsigned char *from = s.c[group][box % LEAVING];
        if (asks)
            tma_store_wait_read<LEAVING - 1>(); /* what was here has left */
        sync_consumer(group);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned packed[4], chunk = i * 2 + lane / 16;
#pragma unroll
            for (int j = 0; j < 4; j++)
                packed[j] = pack_bf16(sums[32 * box + 8 * i + 2 * j],
                                      sums[32 * box + 8 * i + 2 * j + 1]);
            store_matrices(shared_address(from) + row * 128 + ((chunk ^ row % 8) << 4), packed);
        }
        tma_fence();
        sync_consumer(group);
        if (asks) {
            tma_store(c, tile.column + box * 64, tile.row + group * 64, from);
            tma_store_commit();
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
         const __grid_constant__ tensor_map c, int m, int n, int k)
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
    cudaTriggerProgrammaticLaunchCompletion();
    turn at = {0, 0};
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
            cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
            for (int pair = blockIdx.x / CLUSTER; pair < pairs_down * across; pair += clusters)
                produce(s, &a, &b, at, place_of(pair, pairs_down, across), k);
        }
    } else {
        registers_raise_to<232>();
        for (int pair = blockIdx.x / CLUSTER; pair < pairs_down * across; pair += clusters) {
            float sums[BN / 2];
            place tile = place_of(pair, pairs_down, across);
            consume(s, sums, group, at, k);
            store(s, sums, group, &c, tile);
        }
        if (threadIdx.x % 128 == 0)
            tma_store_wait_read<0>();
    }
    cluster_sync(); /* a block's shared memory stays until the other no longer copies into it */
}
