/*
 * ahead.cu: as registers.cu, but blocks stay and take one row after the other: the loads of the
 * next row start before this one's largest number is known, so that memory has something to do
 * while the block works, waits at its barrier and writes. Two rows in registers: so VECTORS is half
 * as large, and the block twice as wide.
 */
// arch: sm_80
#include "part.h"

#define VECTORS 4 // tune: 2 4 8

/* Where the row has ended: minus infinity twice a word. */
static __device__ __forceinline__ void load_row(const bf16 *row, unsigned vectors,
                                                uint4 (&v)[VECTORS])
{
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        v[k] = at < vectors ? load_once((const uint4 *)row + at)
                            : make_uint4(0xff80ff80, 0xff80ff80, 0xff80ff80, 0xff80ff80);
    }
}

extern "C" __global__ void __launch_bounds__(512, 2)
    softmax(const bf16 *in, long long rows, long long cols, float scale, bf16 *out)
{
    __shared__ part of_warp[2][32]; // rows take turns: one barrier for each
    unsigned vectors = cols / 8, turn = 0;
    uint4 v[VECTORS], next[VECTORS];
    load_row(in + blockIdx.x * cols, vectors, next);
    for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = next[k];
        if (row + gridDim.x < rows)
            load_row(in + (row + gridDim.x) * cols, vectors, next);
        part p = measure_vectors<bf16>(v, scale * LOG2_E, 32);
        p = merge_warps(p, scale * LOG2_E, of_warp[turn]);
        float share = p.sum == 0 ? 0 : 1 / p.sum;
        exponents e = exponents_from(p.most, scale * LOG2_E);
        uint4 *to = (uint4 *)(out + row * cols);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            if (at < vectors)
                store_stream(&to[at], softmax_vector(v[k], e, share));
        }
    }
}
