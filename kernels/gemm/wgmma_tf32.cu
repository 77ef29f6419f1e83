/*
 * wgmma_tf32.cu: TF32 at Hopper's full rate, with B by rows. wgmma transposes only 16-bit tiles: in
 * TF32 both of its factors must lie along k in shared memory, and B does not. But its first factor
 * may also come from registers, in any order that the threads load it. So the product is turned
 * round: a warpgroup makes 64 columns of C as rows of C' = B' A', with B' from registers and A', which
 * lies along k, straight from shared memory. The TMA unit rounds f32 to TF32 on the way.
 *
 * As in persistent.cu a block an SM makes tile after tile; the two blocks of a cluster make
 * neighbours in a row and share A's tile.
 */
// arch: sm_90a
#include "tma.h"
#include "wgmma.h"
#define BM 256
#define BN 128
#define BK 32     /* a line of the swizzle: 128 bytes */
#define STAGES 4 // tune: 3 4
#define CLUSTER 2
#define CONSUMERS 2
#define GROUP 8 // tune: 4 8 16
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (BK * 128) /* bytes: 32 columns of B */

struct stages {
    unsigned char a[STAGES][BM * BK * 4], b[STAGES][BK * BN * 4];
    barrier full[STAGES], empty[STAGES];
};

struct place {
    int row, column;
};
static __device__ __forceinline__ place place_of(int pair, int down, int pairs_across)
{
    int first = pair / (GROUP * pairs_across) * GROUP;
    int height = down - first < GROUP ? down - first : GROUP;
    int inside = pair - first * pairs_across;
    return place{(first + inside % height) * BM,
                 (inside / height * CLUSTER + (int)cluster_rank()) * BN};
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

/* By one thread: the block's own tile of B, and its half of A's tile for both. Stages come in pairs;
 * beyond the end of k they are zeros. */
static __device__ __forceinline__ void produce(stages &s, const tensor_map *a, const tensor_map *b,
                                               turn &at, place tile, int k)
{
    int half = (int)cluster_rank() * (BM / CLUSTER);
    int end = (k + 2 * BK - 1) / (2 * BK) * (2 * BK);
    for (int step = 0; step < end; step += BK, at.next()) {
        barrier *full = &s.full[at.stage];
        barrier_wait(&s.empty[at.stage], at.parity ^ 1);
        barrier_arrive_expecting(full, sizeof s.a[0] + sizeof s.b[0]);
        tma_load_multicast(s.a[at.stage] + half * 128, a, step, tile.row + half, full,
                           (1 << CLUSTER) - 1);
        for (int i = 0; i < BN; i += 32)
            tma_load(s.b[at.stage] + i / 32 * BOX, b, tile.column + i, step, full);
    }
}

/* The warpgroup's rows of B' are its 64 columns of B. A thread holds two of them for each k, and we
 * choose which: neighbours, so that one load fetches both, in chunks that the swizzle spreads over
 * all banks for the four k of a load. This is the first, within the block's columns. */
static __device__ __forceinline__ int column_of_thread(int group)
{
    int warp = threadIdx.x % 128 / 32, row = threadIdx.x % 32 / 4;
    int chunk = row / 2 % 2 * 4 + row / 4 + warp % 2 * 2;
    return group * 64 + warp / 2 * 32 + chunk * 4 + row % 2 * 2;
}

/* Its elements of B' for all of a stage: 8 k a product, of which a thread has two. */
static __device__ __forceinline__ void load_columns(unsigned (&of_b)[BK / 8][4], unsigned tile,
                                                    int column)
{
#pragma unroll
    for (int i = 0; i < BK / 8; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            unsigned line = h * 4 + threadIdx.x % 4, chunk = column % 32 / 4 ^ line;
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                         : "=r"(of_b[i][2 * h]), "=r"(of_b[i][2 * h + 1])
                         : "r"(tile + column / 32 * BOX + (i * 8 + line) * 128 + chunk * 16 +
                               column % 4 * 4)
                         : "memory");
        }
}

static __device__ __forceinline__ void leave(barrier *empty)
{
    if (threadIdx.x % 128 < CLUSTER)
        barrier_arrive_in(empty, threadIdx.x % 128);
}

/* One stage. The products of the stage before it run on while this one's elements are loaded. */
static __device__ __forceinline__ void consume_stage(stages &s, float (&sums)[BM / 2],
                                                     unsigned (&of_b)[BK / 8][4], turn &at,
                                                     int column, bool first)
{
    unsigned a = shared_address(s.a[at.stage]);
    barrier_wait(&s.full[at.stage], at.parity);
    load_columns(of_b, shared_address(s.b[at.stage]), column);
    wgmma_hold(sums);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < BK / 8; i++)
        wgmma_tf32_from_registers(sums, of_b[i], wgmma_tile(a + i * 32, 1024, 0), !first || i > 0);
    wgmma_commit();
    wgmma_hold(sums);
    wgmma_wait<1>();
    if (!first)
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    at.next();
}

static __device__ __forceinline__ void consume(stages &s, float (&sums)[BM / 2], int column,
                                               turn &at, int k)
{
    /* While products read the one, the other is filled. A branch between the two would make ptxas
     * wait for every product. */
    unsigned even[BK / 8][4], odd[BK / 8][4];
    for (int step = 0; step < k; step += 2 * BK) {
        consume_stage(s, sums, even, at, column, step == 0);
        consume_stage(s, sums, odd, at, column, false);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
}

/* sums[4 i + 2 h + e] is row 8 i + t % 4 * 2 + e of C's tile, column + h. */
static __device__ __forceinline__ void store_columns(float *c, const float (&sums)[BM / 2], int row,
                                                     int column, int m, int n)
{
    row += threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < BM / 2; i += 4)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int y = row + i * 2 + e;
            if (y < m && column < n)
                *(float2 *)(c + (long long)y * n + column) =
                    make_float2(sums[i + e], sums[i + e + 2]);
        }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c,
         int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stages &s = *(stages *)memory;
    int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
    int down = (m + BM - 1) / BM, pairs_across = (n + CLUSTER * BN - 1) / (CLUSTER * BN);
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
            for (int pair = blockIdx.x / CLUSTER; pair < down * pairs_across; pair += clusters)
                produce(s, &a, &b, at, place_of(pair, down, pairs_across), k);
    } else {
        registers_raise_to<232>();
        int column = column_of_thread(group);
        for (int pair = blockIdx.x / CLUSTER; pair < down * pairs_across; pair += clusters) {
            float sums[BM / 2];
            place tile = place_of(pair, down, pairs_across);
            consume(s, sums, column, at, k);
            store_columns(c, sums, tile.row, tile.column + column, m, n);
        }
    }
    cluster_sync(); /* a block's shared memory stays until the other no longer copies into it */
}
