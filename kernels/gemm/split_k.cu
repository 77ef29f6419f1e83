/*
 * split_k.cu: for a small C and a long k. One block a tile would leave most SMs idle, so several
 * blocks share a tile: each multiplies a part of k and stores its sums in f32. A second kernel adds
 * up the parts, always in the same order.
 */
// arch: sm_90a
#define STAGES 4 // tune: 3 4
#include "ring.h"
#include "store.h"

/* Part z of `parts` is a matrix of m x n sums. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    multiply_parts(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                   float *parts, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    ring &r = *(ring *)memory;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN, group = threadIdx.x / 128;
    int steps = (k + BK - 1) / BK;
    int from = (int)((long long)steps * blockIdx.z / gridDim.z);
    int to = (int)((long long)steps * (blockIdx.z + 1) / gridDim.z);
    if (threadIdx.x == 0)
        make_ring(r);
    __syncthreads();
    turn at = {0, 0};
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
            produce(r, at, &a, &b, row, column, from, to);
    } else {
        registers_raise_to<232>();
        float sums[BN / 2];
        consume(r, at, sums, group, to - from);
        store_sums(parts + (long long)blockIdx.z * m * n, sums, row + group * 64, column, m, n);
    }
}

/* A thread for each pair of neighbours. */
extern "C" __global__ void __launch_bounds__(256)
    add_parts(const float *parts, unsigned short *c, int count, int m, int n)
{
    long long pairs = (long long)m * n / 2;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float2 sum = ((const float2 *)parts)[i];
    for (int part = 1; part < count; part++) {
        float2 more = ((const float2 *)parts)[part * pairs + i];
        sum.x += more.x;
        sum.y += more.y;
    }
    ((unsigned *)c)[i] = pack_bf16(sum.x, sum.y);
}
