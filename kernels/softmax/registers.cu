/*
 * registers.cu: the row is read once, 16 bytes a load, and stays in registers, VECTORS loads in
 * flight per thread. A warp finds its own largest number and the sum relative to it; then the warps
 * exchange both at once, so that the block waits at one barrier for each row. exp(x) is 2^(x log2
 * e), one instruction. Rows are multiples of 8 numbers; the longest is what a block of 1024 threads
 * holds.
 */
// arch: sm_80
#include "part.h"

#define VECTORS 8 // tune: 1 2 4 8

extern "C" __global__ void __launch_bounds__(1024)
    softmax(const bf16 *in, long long cols, float scale, bf16 *out)
{
    __shared__ part of_warp[32];
    const uint4 *from = (const uint4 *)(in + blockIdx.x * cols);
    uint4 *to = (uint4 *)(out + blockIdx.x * cols);
    unsigned thread = threadIdx.x, threads = blockDim.x, vectors = cols / 8;
    uint4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) // where the row has ended: minus infinity twice a word
        v[k] = thread + k * threads < vectors
                   ? load_stream(from + thread + k * threads)
                   : make_uint4(0xff80ff80, 0xff80ff80, 0xff80ff80, 0xff80ff80);
    part p = measure_vectors<bf16>(v, scale * LOG2_E, 32);
    p = merge_warps(p, scale * LOG2_E, of_warp);
    float share = p.sum == 0 ? 0 : 1 / p.sum;
    exponents e = exponents_from(p.most, scale * LOG2_E);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (thread + k * threads < vectors)
            store_stream(&to[thread + k * threads], softmax_vector(v[k], e, share));
}
