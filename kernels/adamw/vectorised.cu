/*
 * vectorised.cu: four neighbours at a time, in 16 bytes of f32 and 8 of bf16, and all loads of a thread
 * before its first store. A tensor whose arrays are misaligned, and the end of one, are done one by one.
 */
// arch: sm_80
#include "prefetch.h"
#include "step.h"

#define AHEAD (1 << 20) // bytes of an array from what a block reads to what it asks the L2 for
#define BLOCK 256 // tune: 128 256 512
#define GROUPS (UNIT / 4 / BLOCK)

/* Do groups of four begin at multiples of their size in every array? */
template <class Kind> static __device__ __forceinline__ bool in_groups(const arrays<Kind> &a)
{
    size_t wide = (size_t)a.mean | (size_t)a.square;
    if (Kind::master)
        wide |= (size_t)a.master;
    return wide % 16 == 0 && ((size_t)a.param | (size_t)a.grad) % (4 * sizeof(*a.param)) == 0;
}

struct group {
    float gradient[4], mean[4], square[4], param[4];
};
template <class Kind>
static __device__ __forceinline__ void load_group(const arrays<Kind> &a, long long i, group &g)
{
    load_four(a.grad + i, g.gradient);
    load_four(a.mean + i, g.mean);
    load_four(a.square + i, g.square);
    if constexpr (Kind::master)
        load_four(a.master + i, g.param);
    else
        load_four(a.param + i, g.param);
}
template <class Kind>
static __device__ __forceinline__ void do_group(const arrays<Kind> &a, const rates &r, long long i,
                                                group &g)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        do_step(r, g.gradient[k], g.mean[k], g.square[k], g.param[k]);
    store_four(a.mean + i, g.mean);
    store_four(a.square + i, g.square);
    if constexpr (Kind::master)
        store_four(a.master + i, g.param);
    if constexpr (Kind::stochastic) {
        uint4 words = half_words<4>(r.stream, a.index + i);
#pragma unroll
        for (int k = 0; k < 4; k++)
            g.param[k] = round_at_random(g.param[k], half_word(words, k));
    }
    store_four(a.param + i, g.param);
}

template <class T>
static __device__ __forceinline__ void prefetch_part(const T *of, long long unit, long long count)
{
    if ((size_t)of % 16 == 0)
        prefetch_later(of + unit, UNIT * sizeof(T), (count - unit) * sizeof(T), AHEAD);
}
template <class Kind>
static __device__ __forceinline__ void prefetch_unit(const arrays<Kind> &a, long long unit)
{
    prefetch_part(a.grad, unit, a.count);
    prefetch_part(a.mean, unit, a.count);
    prefetch_part(a.square, unit, a.count);
    if constexpr (Kind::master)
        prefetch_part(a.master, unit, a.count);
    else
        prefetch_part(a.param, unit, a.count);
}

template <class Kind>
static __device__ __forceinline__ void vectorised(const bases &b, const tensor *table, int tensors,
                                                  int from, const rates &r)
{
    tensor t = table[find_tensor(table, tensors, blockIdx.x)];
    arrays<Kind> a = arrays_of<Kind>(b, t);
    long long begin = (blockIdx.x - t.first) * UNIT;
    if (begin + UNIT > t.count || !in_groups(a)) {
        long long end = min(begin + UNIT, t.count);
#pragma unroll 1
        for (long long i = begin + threadIdx.x; i < end; i += BLOCK)
            do_element(a, r, i);
        return;
    }
    group g[GROUPS];
    long long unit = begin;
    begin += threadIdx.x * 4;
#pragma unroll
    for (int k = 0; k < GROUPS; k++)
        load_group(a, begin + k * BLOCK * 4, g[k]);
    prefetch_unit(a, unit);
#pragma unroll
    for (int k = 0; k < GROUPS; k++)
        do_group(a, r, begin + k * BLOCK * 4, g[k]);
}

KERNELS(vectorised, BLOCK)
