// hopper: c = a * b, in f16 with sums in f32. m is a multiple of 128, n of 256, k of 64.
//
// A block makes 128 x 256 elements of c: two warpgroups multiply, 64 rows each, and thread 256 asks the TMA unit for
// tiles. It is right, but it takes turns: the tensor cores wait for the tiles, and the TMA unit waits for the tensor
// cores. 192 KiB of shared memory are yours; one stage takes 48.
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

__global__ void __launch_bounds__(384, 1)
    hopper(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    ring &r = *(ring *)memory;
    int top = blockIdx.y * 128, left = blockIdx.x * 256, group = threadIdx.x / 128;
    float sums[128]; // the first product sets them
    if (threadIdx.x == 0) {
        barrier_make(&r.full[0], 1);
        barrier_made();
    }
    __syncthreads();
    // TODO: thread 256 runs ahead as far as there are empty stages, and the two warpgroups follow at their own pace. A
    // stage is empty when both have left it.
    for (int p = 0, turn = 0; p < k; p += 64, turn++) {
        stage &s = r.stages[0];
        if (threadIdx.x == 256) {
            barrier_arrive_expecting(&r.full[0], sizeof(stage));
            tma_load(s.a, &a, p, top, &r.full[0]);
            for (int i = 0; i < 4; i++)
                tma_load(s.b[i], &b, left + 64 * i, p, &r.full[0]);
        }
        barrier_wait(&r.full[0], turn % 2);
        if (group < 2) {
            unsigned rows = shared_address(s.a[64 * group]), columns = shared_address(s.b);
            wgmma_hold(sums);
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < 4; i++)
                wgmma_f16<0, 1>(sums, wgmma_tile(rows + 32 * i, 1024, 0), wgmma_tile(columns + 2048 * i, 1024, 8192),
                                p > 0 || i > 0);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_hold(sums);
        }
        __syncthreads();
    }
    if (group < 2)
        store(c, sums, top + 64 * group, left, n);
}
