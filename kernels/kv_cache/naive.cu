/*
 * naive.cu: a warp for each query head takes key after key: a dot product over its lanes, one step of
 * the online softmax, and the value added. Each number is decoded by itself, and the heads that share
 * keys and values read them once each. Appends with a thread for 16 numbers.
 */
// arch: sm_90
#include "append.h"

#define BLOCK 128 // tune: 64 128 256
#define MOST 8    // numbers of a lane: dim up to 256

struct Quantised {
    static __device__ float key(const cache &c, long long row, int dim, int i, float scale)
    {
        return scale_of_e4m3(c.k[row * dim + i]) * scale;
    }
    static __device__ float value(const cache &c, long long row, int dim, int i, float scale)
    {
        float x[4];
        E2M1::unpack(c.v[row * (dim / 2) + i / 2] >> i % 2 * 4, x);
        return x[0] * scale_of_e4m3(c.v_scales[row * (dim / 16) + i / 16]) * scale;
    }
};
struct Halves {
    static __device__ float key(const cache &c, long long row, int dim, int i, float)
    {
        return widen(((const f16 *)c.k)[row * dim + i]);
    }
    static __device__ float value(const cache &c, long long row, int dim, int i, float)
    {
        return widen(((const f16 *)c.v)[row * dim + i]);
    }
};

template <class C, class T>
static __device__ __forceinline__ void attend(const T *q, T *o, cache c, int batch, int tokens, int dim,
                                              float softmax_scale)
{
    int number = (int)(blockIdx.x * (BLOCK / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
    int token = number / c.heads, head = number % c.heads / (c.heads / c.kv_heads);
    int sequence = token / tokens;
    if (sequence >= batch)
        return;
    int keys = c.lengths[sequence] - tokens + token % tokens + 1; // that this query sees
    float k_scale = c.head_scales[2 * head], v_scale = c.head_scales[2 * head + 1];
    float query[MOST] = {}, sums[MOST] = {}, most = -INFINITY, sum = 0;
    for (int i = 0; i < MOST; i++)
        if (lane + 32 * i < dim)
            query[i] = widen(q[(long long)number * dim + lane + 32 * i]);
    for (int key = 0; key < keys; key++) {
        long long row = row_of(c, sequence, head, key);
        float score = 0;
        for (int i = 0; i < MOST; i++)
            if (lane + 32 * i < dim)
                score = fmaf(query[i], C::key(c, row, dim, lane + 32 * i, k_scale), score);
        score = sum_lanes(score, 32) * softmax_scale;
        float next = fmaxf(most, score), shrink = expf(most - next), weight = expf(score - next);
        sum = sum * shrink + weight;
        for (int i = 0; i < MOST; i++)
            if (lane + 32 * i < dim)
                sums[i] = fmaf(weight, C::value(c, row, dim, lane + 32 * i, v_scale),
                               sums[i] * shrink);
        most = next;
    }
    for (int i = 0; i < MOST; i++)
        if (lane + 32 * i < dim)
            narrow(sum > 0 ? sums[i] / sum : 0, &o[(long long)number * dim + lane + 32 * i]);
}

#define ATTEND_KERNEL(name, C, T)                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const T *q, T *o, CACHE_PARAMETERS, int batch, int tokens, int dim,                   \
             float softmax_scale)                                                                  \
    {                                                                                              \
        attend<C>(q, o, CACHE_ARGUMENTS, batch, tokens, dim, softmax_scale);                       \
    }
ATTEND_KERNEL(attend_fp8_nvfp4_bf16, Quantised, bf16)
ATTEND_KERNEL(attend_fp8_nvfp4_f16, Quantised, f16)
ATTEND_KERNEL(attend_f16_bf16, Halves, bf16)
ATTEND_KERNEL(attend_f16_f16, Halves, f16)
APPEND_KERNEL(append_bf16, bf16, BLOCK)
APPEND_KERNEL(append_f16, f16, BLOCK)
