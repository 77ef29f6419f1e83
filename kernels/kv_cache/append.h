/*
 * append.h: new keys and values into the cache, quantised on the way. A thread has 16 numbers of a key
 * and of its value, which is a block of NVFP4: no thread needs another's.
 */
#ifndef LOCKSTEP_KV_CACHE_APPEND_H
#define LOCKSTEP_KV_CACHE_APPEND_H

#include "cache.h"

template <class T> static __device__ __forceinline__ void load_16(const T *from, float (&x)[16])
{
#pragma unroll
    for (int v = 0; v < 16 / PER<T>; v++) {
        float part[PER<T>];
        widen_all<T>(((const uint4 *)from)[v], part);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            x[v * PER<T> + k] = part[k];
    }
}

/* new_k and new_v are [batch][tokens][kv_heads][dim]: the last tokens of each sequence. */
template <class T>
static __device__ __forceinline__ void append(const T *new_k, const T *new_v, cache c, int batch,
                                              int tokens, int dim, int threads)
{
    long long i = (long long)blockIdx.x * threads + threadIdx.x;
    int per = dim / 16, part = (int)(i % per), head = (int)(i / per % c.kv_heads);
    long long token = i / per / c.kv_heads;
    int sequence = (int)(token / tokens);
    if (sequence >= batch)
        return;
    int key = c.lengths[sequence] - tokens + (int)(token % tokens);
    if (key < 0)
        return;
    long long row = row_of(c, sequence, head, key);
    float x[16], size = 0, factor = __fdiv_rn(1, c.head_scales[2 * head]);
    load_16(new_k + i * 16, x);
    unsigned codes[4];
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] *= factor;
#pragma unroll
    for (int k = 0; k < 4; k++)
        codes[k] = E4M3::pack(x + 4 * k);
    ((uint4 *)(c.k + row * dim))[part] = make_uint4(codes[0], codes[1], codes[2], codes[3]);

    float encode = __fdiv_rn(1, c.head_scales[2 * head + 1]);
    load_16(new_v + i * 16, x);
#pragma unroll
    for (int k = 0; k < 16; k++)
        size = fmaxf(size, finite_size(x[k]));
    unsigned scale = nvfp4_scale(size, encode);
    factor = nvfp4_factor(scale, encode);
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] *= factor;
    ((uint2 *)(c.v + row * (dim / 2)))[part] = make_uint2(E2M1::pack(x) | E2M1::pack(x + 4) << 16,
                                                          E2M1::pack(x + 8) | E2M1::pack(x + 12) << 16);
    c.v_scales[row * per + part] = (unsigned char)scale;
}

#define APPEND_KERNEL(name, T, threads)                                                            \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(const T *new_k, const T *new_v, CACHE_PARAMETERS, int batch, int tokens, int dim)     \
    {                                                                                              \
        append(new_k, new_v, CACHE_ARGUMENTS, batch, tokens, dim, threads);                        \
    }

#endif
