// hopper, wrong: a stage is given back while its own products still read it.
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

__device__ __forceinline__ void produce(ring &r, const tensor_map *a, const tensor_map *b, int top, int left, int k)
{
    for (int p = 0, turn = 0; p < k; p += 64, turn++) {
        int at = turn % 4;
        barrier_wait(&r.empty[at], turn / 4 % 2 ^ 1); // nothing to wait for the first time round
        barrier_arrive_expecting(&r.full[at], sizeof(stage));
        tma_load(r.stages[at].a, a, p, top, &r.full[at]);
        for (int i = 0; i < 4; i++)
            tma_load(r.stages[at].b[i], b, left + 64 * i, p, &r.full[at]);
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
        wgmma_wait<1>(); // the products of the stage before this one are done
        if (threadIdx.x % 128 == 0)
            barrier_arrive(&r.empty[at]);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
}

__global__ void __launch_bounds__(384, 1)
    hopper(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    ring &r = *(ring *)memory;
    int top = blockIdx.y * 128, left = blockIdx.x * 256, group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            barrier_make(&r.full[i], 1);
            barrier_make(&r.empty[i], 2);
        }
        barrier_made();
    }
    __syncthreads(); // the barriers exist
    if (threadIdx.x == 256)
        produce(r, &a, &b, top, left, k);
    if (group < 2) {
        float sums[128]; // the first product sets them
        consume(r, sums, group, k);
        store(c, sums, top + 64 * group, left, n);
    }
}
