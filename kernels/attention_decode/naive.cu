/*
 * naive.cu: a block for each query of each head. A warp takes every eighth key, its lanes the
 * numbers of that key's row, two bytes at a time; scores are added up over the warp by shuffles, and
 * a running softmax goes along. With few sequences most SMs have nothing to do, and each head of a
 * group reads K and V for itself.
 */
// arch: sm_80
#include "decode.h"
#define WARPS 8
#define NUMBERS 16 /* of a lane: rows of up to 512 */

/* What a warp has found. */
struct part {
    float largest, sum, out[NUMBERS];
};

template <class type>
static __device__ __forceinline__ part walk(const decode_arguments &g, const decode_row &r)
{
    int lane = threadIdx.x % 32;
    part p = {lowest(), 0};
    float q[NUMBERS];
#pragma unroll
    for (int i = 0; i < NUMBERS; i++) {
        q[i] = lane + 32 * i < g.dim ? type::load(g.q, r.q + lane + 32 * i) : 0;
        p.out[i] = 0;
    }
    for (int key = threadIdx.x / 32; key < r.keys; key += WARPS) {
        long long at = cache_at(g, r.sequence, r.head / g.group, key) + lane;
        float score = 0;
#pragma unroll
        for (int i = 0; i < NUMBERS; i++)
            if (lane + 32 * i < g.dim)
                score = fmaf(q[i], type::load(g.k, at + 32 * i), score);
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            score += __shfl_xor_sync(0xffffffff, score, step);
        score *= g.scale;
        float largest = fmaxf(p.largest, score), shrink = exp2_fast(p.largest - largest);
        float weight = exp2_fast(score - largest);
        p.largest = largest;
        p.sum = fmaf(p.sum, shrink, weight);
#pragma unroll
        for (int i = 0; i < NUMBERS; i++)
            if (lane + 32 * i < g.dim)
                p.out[i] = fmaf(p.out[i], shrink, weight * type::load(g.v, at + 32 * i));
    }
    return p;
}

template <class type> static __device__ __forceinline__ void attend(const decode_arguments &g)
{
    __shared__ float out[WARPS][32 * NUMBERS], largest[WARPS], sum[WARPS];
    decode_row r = row_numbered(g, blockIdx.x);
    part p = walk<type>(g, r);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
        out[warp][lane + 32 * i] = p.out[i];
    if (lane == 0) {
        largest[warp] = p.largest;
        sum[warp] = p.sum;
    }
    __syncthreads();
    float most = lowest(), total = 0;
    for (int w = 0; w < WARPS; w++)
        most = fmaxf(most, largest[w]);
    for (int w = 0; w < WARPS; w++)
        total = fmaf(sum[w], shrink_to(largest[w], most), total);
    for (int i = threadIdx.x; i < g.dim; i += 32 * WARPS) {
        float all = 0;
        for (int w = 0; w < WARPS; w++)
            all = fmaf(out[w][i], shrink_to(largest[w], most), all);
        type::store(g.o, r.q + i, total == 0 ? 0 : all / total);
    }
    if (threadIdx.x == 0 && g.lse)
        ((float *)g.lse)[r.lse] = lse_of(most, total);
}

#define DECODE(type)                                                                               \
    extern "C" __global__ void __launch_bounds__(32 * WARPS)                                       \
        decode_##type(const __grid_constant__ decode_arguments g)                                  \
    {                                                                                              \
        attend<type>(g);                                                                           \
    }
DECODE(bf16)
DECODE(f16)
DECODE(f32)
