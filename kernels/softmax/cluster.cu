/*
 * cluster.cu: a row that one SM cannot hold well is cut over the blocks of a cluster, which run at
 * the same time on neighbouring SMs and can store into each other's shared memory. Each block does
 * what registers.cu does, tells all blocks of the cluster what it found, and after one barrier of
 * the cluster all have the row's largest number and sum. So a row of 128 K numbers is still read
 * once.
 */
// arch: sm_90
#include "part.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define VECTORS 8 // tune: 2 4 8

// A block's part of the row: its VECTORS vectors for each thread, after those of the blocks before
// it.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    softmax(const bf16 *in, long long cols, float scale, bf16 *out)
{
    __shared__ part of_warp[32];
    __shared__ exchange of_blocks;
    unsigned rank = cluster_rank();
    long long row = blockIdx.x / cluster_size() * cols;
    const uint4 *from = (const uint4 *)(in + row);
    uint4 *to = (uint4 *)(out + row);
    unsigned first = rank * BLOCK * VECTORS + threadIdx.x, vectors = cols / 8;
    exchange_begin(&of_blocks);
    uint4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) // where the row has ended: minus infinity twice a word
        v[k] = first + k * BLOCK < vectors
                   ? load_stream(from + first + k * BLOCK)
                   : make_uint4(0xff80ff80, 0xff80ff80, 0xff80ff80, 0xff80ff80);
    part p = merge_warps(measure_vectors<bf16>(v, scale * LOG2_E, 32), scale * LOG2_E, of_warp);
    float2 other =
        exchange_numbers(&of_blocks, make_float2(p.most, p.sum), make_float2(-INFINITY, 0));
    p = merge_lanes(part{other.x, other.y}, scale * LOG2_E, 32);
    float share = p.sum == 0 ? 0 : 1 / p.sum;
    exponents e = exponents_from(p.most, scale * LOG2_E);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (first + k * BLOCK < vectors)
            store_stream(&to[first + k * BLOCK], softmax_vector(v[k], e, share));
}
