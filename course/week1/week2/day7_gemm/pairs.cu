// pairs: c = a * b, as in hopper; m is a multiple of 256 now. Two blocks are a cluster: they run on neighbouring SMs, and
// each can reach the other's shared memory. Their tiles lie one below the other, so both load the same columns of b.
// It is right, but every one of those columns is fetched twice.
#include <cuda_fp16.h>
#include "tma.h"
#include "wgmma.h"

struct stage {
    half a[128][64], b[4][64][64]; // lines of 128 bytes; b in boxes of 64 columns
};
struct ring {
    stage stages[4];
    barrier empty[4], full[4];
};

// Where the block's tile lies: pairs of tiles in groups of 8, as in the kata tile_order.
struct place {
    int top, left;
};
__device__ __forceinline__ place place_of(int m, int n)
{
    int pair = blockIdx.x / 2, across = n / 256, first = pair / (8 * across) * 8;
    int height = min(8, m / 256 - first), inside = pair - first * across;
    return place{(first + inside % height) * 256 + (int)cluster_rank() * 128, inside / height * 256};
}

__device__ __forceinline__ void store(float *c, const float (&sums)[128], int row, int column, int n)
{
    int t = threadIdx.x % 128;
    row += t / 32 * 16 + t % 32 / 4;
    column += t % 4 * 2;
#pragma unroll
    for (int i = 0; i < 128; i += 4) {
        *(float2 *)(c + row * n + column + 2 * i) = make_float2(sums[i], sums[i + 1]);
        *(float2 *)(c + (row + 8) * n + column + 2 * i) = make_float2(sums[i + 2], sums[i + 3]);
    }
}

__device__ __forceinline__ void produce(ring &r, const tensor_map *a, const tensor_map *b, place at, int k)
{
    for (int p = 0, turn = 0; p < k; p += 64, turn++) {
        int stage_at = turn % 4;
        stage &s = r.stages[stage_at];
        barrier_wait(&r.empty[stage_at], turn / 4 % 2 ^ 1);
        barrier_arrive_expecting(&r.full[stage_at], sizeof(stage));
        tma_load(s.a, a, p, at.top, &r.full[stage_at]);
        // TODO: ask for two of the four boxes, and let the TMA unit deliver each to both blocks: tma_load_multicast takes
        // a bit for every block. Then a stage is empty when the warpgroups of both blocks have left it.
        for (int i = 0; i < 4; i++)
            tma_load(s.b[i], b, at.left + 64 * i, p, &r.full[stage_at]);
    }
}

__device__ __forceinline__ void consume(ring &r, float (&sums)[128], int group, int k)
{
    for (int p = 0, turn = 0; p < k; p += 64, turn++) {
        int at = turn % 4;
        barrier_wait(&r.full[at], turn / 4 % 2);
        unsigned rows = shared_address(r.stages[at].a[64 * group]), columns = shared_address(r.stages[at].b);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4; i++)
            wgmma_f16<0, 1>(sums, wgmma_tile(rows + 32 * i, 1024, 0), wgmma_tile(columns + 2048 * i, 1024, 8192),
                            p > 0 || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<1>();
        if (turn > 0 && threadIdx.x % 128 == 0)
            barrier_arrive(&r.empty[(turn - 1) % 4]);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
}

__global__ void __launch_bounds__(384, 1)
    pairs(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    ring &r = *(ring *)memory;
    place at = place_of(m, n);
    int group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            barrier_make(&r.full[i], 1);
            barrier_make(&r.empty[i], 2);
        }
        barrier_made();
    }
    __syncthreads(); // the barriers exist
    if (threadIdx.x == 256)
        produce(r, &a, &b, at, k);
    if (group < 2) {
        float sums[128]; // the first product sets them
        consume(r, sums, group, k);
        store(c, sums, at.top + 64 * group, at.left, n);
    }
}
