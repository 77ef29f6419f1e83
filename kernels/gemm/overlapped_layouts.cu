/*
 * overlapped.cu: C leaves by TMA. A consumer packs its part of the tile into shared memory with
 * stmatrix, one thread hands it to the TMA unit, and the warpgroup goes on to the next tile while
 * the copy is under way. Everything before it stays: a persistent grid in an order that suits the
 * L2, clusters of two blocks that share B's tile by multicast, one producer warp, two consumers.
 */
// arch: sm_90a
#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 256
#define BK 64     /* a line of the swizzle: 128 bytes */
#define STAGES 3 // tune: 3 4
#define GROUP 8 // tune: 2 4 8 16
#define CLUSTER 2
#define CONSUMERS 2
#define THREADS (128 * (1 + CONSUMERS))
#define A_BYTES (BM * BK * 2)
#define B_BYTES (BK * BN * 2)
#define BOX (64 * 128)           /* bytes of 64 lines of the swizzle */
#define PART (64 * BN * 2)       /* bytes of a consumer's part of C */

struct stages {
    unsigned char a[STAGES][A_BYTES], b[STAGES][B_BYTES];
    unsigned char c[CONSUMERS][PART];
    barrier full[STAGES], empty[STAGES];
};

/* Where a block's tile lies. A cluster makes two tiles, one below the other. GROUP rows of such
 * pairs go through the columns together, so that tiles made at the same time share rows of A and
 * columns of B in the L2. */
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

/* A position in the ring of stages, and the parity of its turn. */
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

/* One thread fills the stages. Each block fetches its own tile of A, and half of B's tile for both. */
template <bool DOWN_A, bool DOWN_B>
static __device__ __forceinline__ void produce(stages &s, const tensor_map *a, const tensor_map *b,
                                               turn &at, place tile, int steps)
{
    unsigned rank = cluster_rank(), half = rank * (BN / CLUSTER);
    for (int step = 0; step < steps; step++, at.next()) {
        int k = step * BK;
        barrier *full = &s.full[at.stage];
        barrier_wait(&s.empty[at.stage], at.parity ^ 1);
        barrier_arrive_expecting(full, A_BYTES + B_BYTES);
        if (DOWN_A) {
            for (int i = 0; i < BM / 64; i++)
                tma_load(s.a[at.stage] + i * BOX, a, tile.row + i * 64, k, full);
        } else {
            tma_load(s.a[at.stage], a, k, tile.row, full);
        }
        unsigned char *to = s.b[at.stage] + half * BK * 2;
        if (DOWN_B) {
            for (int i = 0; i < BN / CLUSTER / 64; i++)
                tma_load_multicast(to + i * BOX, b, tile.column + half + i * 64, k, full,
                                   (1 << CLUSTER) - 1);
        } else {
            tma_load_multicast(to, b, k, tile.column + half, full, (1 << CLUSTER) - 1);
        }
    }
}

/* A stage is free when both consumers of every block that its tiles went to have arrived. */
static __device__ __forceinline__ void release(barrier *empty)
{
    if (threadIdx.x % 128 < CLUSTER)
        barrier_arrive_in(empty, threadIdx.x % 128);
}

template <bool DOWN_A, bool DOWN_B>
static __device__ __forceinline__ void multiply(stages &s, float (&sums)[BN / 2], unsigned part,
                                                turn &at, int steps)
{
    for (int step = 0; step < steps; step++) {
        unsigned from_a = shared_address(s.a[at.stage]) + part * BOX;
        unsigned from_b = shared_address(s.b[at.stage]);
        barrier_wait(&s.full[at.stage], at.parity);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; k++)
            wgmma_bf16<DOWN_A, DOWN_B>(sums, wgmma_tile(from_a + k * (DOWN_A ? 2048 : 32), 1024, BOX),
                                       wgmma_tile(from_b + k * (DOWN_B ? 2048 : 32), 1024, BOX),
                                       step > 0 || k > 0);
        wgmma_commit();
        wgmma_hold(sums);
        if (step > 0) {
            wgmma_wait<1>();
            release(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        at.next();
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    release(&s.empty[(at.stage + STAGES - 1) % STAGES]);
}

static __device__ __forceinline__ unsigned pack_bf16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

/* Four 8 x 8 matrices; each lane names a row of one of them. */
static __device__ __forceinline__ void store_matrices(unsigned shared, const unsigned (&m)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared),
                 "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
}

static __device__ __forceinline__ void sync_consumer(unsigned part)
{
    asm volatile("bar.sync %0, 128;" ::"r"(part + 1) : "memory");
}

/* The sums of a consumer as bf16, in lines of the swizzle, and from there to C. */
static __device__ __forceinline__ void store(stages &s, const float (&sums)[BN / 2], unsigned part,
                                             const tensor_map *c, place tile)
{
    unsigned lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    unsigned to = shared_address(s.c[part]) + row * 128;
    bool leads = threadIdx.x % 128 == 0;
    if (leads)
        tma_store_wait_read<0>();
    sync_consumer(part);
#pragma unroll
    for (unsigned i = 0; i < BN / 16; i++) {
        unsigned packed[4], chunk = i % 4 * 2 + lane / 16;
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            packed[j] = pack_bf16(sums[8 * i + 2 * j], sums[8 * i + 2 * j + 1]);
        store_matrices(to + i / 4 * BOX + ((chunk ^ row % 8) << 4), packed);
    }
    tma_fence();
    sync_consumer(part);
    if (leads) {
        for (int i = 0; i < BN / 64; i++)
            tma_store(c, tile.column + i * 64, tile.row + (int)part * 64, s.c[part] + i * BOX);
        tma_store_commit();
    }
}

template <bool DOWN_A, bool DOWN_B>
static __device__ __forceinline__ void gemm(const tensor_map *a, const tensor_map *b,
                                            const tensor_map *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stages &s = *(stages *)memory;
    unsigned group = threadIdx.x / 128;
    int pairs_down = (m + CLUSTER * BM - 1) / (CLUSTER * BM), across = (n + BN - 1) / BN;
    int steps = (k + BK - 1) / BK, pairs = pairs_down * across;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&s.full[i], 1);
            barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
        }
        barrier_made();
        tma_prefetch_map(a);
        tma_prefetch_map(b);
        tma_prefetch_map(c);
    }
    cluster_sync();
    turn at = {0, 0};
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
            for (int pair = blockIdx.x / CLUSTER; pair < pairs; pair += gridDim.x / CLUSTER)
                produce<DOWN_A, DOWN_B>(s, a, b, at, place_of(pair, pairs_down, across), steps);
    } else {
        registers_raise_to<232>();
        for (int pair = blockIdx.x / CLUSTER; pair < pairs; pair += gridDim.x / CLUSTER) {
            float sums[BN / 2];
            multiply<DOWN_A, DOWN_B>(s, sums, group, at, steps);
            store(s, sums, group, c, place_of(pair, pairs_down, across));
        }
        if (threadIdx.x % 128 == 0)
            tma_store_wait_read<0>();
    }
    cluster_sync(); /* a block's shared memory lives as long as the other may copy into it */
}

#define GEMM(name, DOWN_A, DOWN_B)                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        name(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,           \
             const __grid_constant__ tensor_map c, int m, int n, int k)                            \
    {                                                                                              \
        gemm<DOWN_A, DOWN_B>(&a, &b, &c, m, n, k);                                                 \
    }
GEMM(gemm_rows_rows, false, true)
GEMM(gemm_rows_columns, false, false)
GEMM(gemm_columns_rows, true, true)
GEMM(gemm_columns_columns, true, false)
