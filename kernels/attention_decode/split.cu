/*
 * split.cu: the keys of a sequence are cut into parts, a block for each, so that all SMs have
 * something to do whatever the batch. A part's largest score, its sum of exponentials and its
 * output, not yet divided, go to memory; a second kernel puts them together. Rows are read 16 bytes
 * a lane, eight loads at a time. Each head of a group still reads K and V for itself.
 */
// arch: sm_80
#include "stream.h"

/* Parts in the workspace: [row][part] of largest and sum, then [row][part][dim]. */
static __device__ __forceinline__ float2 *sums_of(const decode_arguments &g, int row)
{
    return (float2 *)g.workspace + (long long)row * g.parts;
}
static __device__ __forceinline__ float *outs_of(const decode_arguments &g, int row)
{
    long long rows = (long long)g.batch * g.heads * g.group * g.queries;
    return (float *)g.workspace + 2 * rows * g.parts + (long long)row * g.parts * g.dim;
}

template <class type, int DIM>
static __device__ __forceinline__ void attend(const decode_arguments &g)
{
    typedef stream<type, DIM> keys;
    __shared__ found<DIM> f;
    decode_row r = row_numbered(g, blockIdx.x);
    int each = (r.keys + g.parts - 1) / g.parts, first = min((int)blockIdx.y * each, r.keys);
    keys::walk(g, r, first, min(first + each, r.keys), f);
    float most = keys::largest_of(f);
    float *out = outs_of(g, blockIdx.x) + (long long)blockIdx.y * DIM;
    for (int i = threadIdx.x; i < DIM; i += THREADS)
        out[i] = keys::out_of(f, most, i);
    if (threadIdx.x == 0)
        sums_of(g, blockIdx.x)[blockIdx.y] = make_float2(most, keys::sum_of(f, most));
}

/* A block for each row, a thread for each column. */
template <class type> static __device__ __forceinline__ void merge(const decode_arguments &g)
{
    decode_row r = row_numbered(g, blockIdx.x);
    const float2 *part = sums_of(g, blockIdx.x);
    const float *out = outs_of(g, blockIdx.x) + threadIdx.x;
    float most = lowest(), sum = 0, all = 0;
    for (int i = 0; i < g.parts; i++)
        most = fmaxf(most, part[i].x);
    for (int i = 0; i < g.parts; i++) {
        float shrink = shrink_to(part[i].x, most);
        sum = fmaf(part[i].y, shrink, sum);
        all = fmaf(out[(long long)i * g.dim], shrink, all);
    }
    type::store(g.o, r.q + threadIdx.x, sum == 0 ? 0 : all / sum);
    if (threadIdx.x == 0 && g.lse)
        ((float *)g.lse)[r.lse] = lse_of(most, sum);
}

#define DECODE(type, dim)                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        decode_##type##_##dim(const __grid_constant__ decode_arguments g)                          \
    {                                                                                              \
        attend<type, dim>(g);                                                                      \
    }
#define DECODES(type)                                                                              \
    DECODE(type, 64)                                                                               \
    DECODE(type, 96)                                                                               \
    DECODE(type, 128)                                                                              \
    DECODE(type, 256)                                                                              \
    extern "C" __global__ void merge_##type(const __grid_constant__ decode_arguments g)            \
    {                                                                                              \
        merge<type>(g);                                                                            \
    }
DECODES(bf16)
DECODES(f16)
