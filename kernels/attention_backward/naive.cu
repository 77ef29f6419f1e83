/*
 * naive.cu: as the formulas say it: weights P and gradients of scores dS as whole matrices in
 * memory, a thread for each; then dQ, dK and dV, a thread for each number. A thread of dK and dV
 * goes through all queries of all heads of its group. This step alone has windows, a softcap and
 * dropout, which is found again from the place of a weight.
 */
// arch: sm_80
#include "backward.h"
#define SIDE 16

/* Row `query` of P, and of dS behind it: [batch][heads * group][queries][keys]. */
static __device__ __forceinline__ float *weights_of(const backward_arguments &g, int head,
                                                    int query)
{
    long long heads = g.batch * g.heads * g.group;
    return (float *)g.workspace + 2 * heads * g.padded +
           ((long long)head * g.queries + query) * g.keys;
}
static __device__ __forceinline__ float *slopes_of(const backward_arguments &g, int head, int query)
{
    return weights_of(g, g.batch * g.heads * g.group + head, query);
}

static __device__ __forceinline__ bool is_seen(const backward_arguments &g, int query, int key)
{
    int diagonal = query + g.keys - g.queries;
    return key >= diagonal - g.left && key <= diagonal + g.right;
}

/* What dropout multiplies a weight by. */
static __device__ __forceinline__ float kept_of(const backward_arguments &g, int head, int query,
                                                int key)
{
    if (!g.dropped)
        return 1;
    unsigned long long at = ((unsigned long long)head * g.queries + query) * g.keys + key;
    uint4 words = random_words(stream_of(g.seed, g.offset, 0), at / 8);
    return half_word(words, (int)(at % 8)) < (unsigned)g.dropped ? 0 : g.kept;
}

/* A thread for each pair of a query and a key. */
template <class type> static __device__ __forceinline__ void scores(const backward_arguments &g)
{
    int query = blockIdx.y * SIDE + threadIdx.y, key = blockIdx.x * SIDE + threadIdx.x;
    int head = blockIdx.z;
    if (query >= g.queries || key >= g.keys)
        return;
    long long q = ((long long)head * g.queries + query) * g.dim;
    long long k = ((long long)(head / g.group) * g.keys + key) * g.dim;
    float score = 0, slope = 0;
    for (int i = 0; i < g.dim; i++) {
        score = fmaf(type::load(g.q, q + i), type::load(g.k, k + i), score);
        slope = fmaf(type::load(g.grad, q + i), type::load(g.v, k + i), slope);
    }
    float bend = 1, kept = kept_of(g, head, query, key);
    if (g.softcap != 0) {
        float part = tanh_fast(score * g.scale / g.softcap);
        score = g.softcap / g.scale * part;
        bend = 1 - part * part;
    }
    float weight = exp2_fast(fmaf(score, g.scale2, -lses_of(g, head)[query]));
    weight = is_seen(g, query, key) ? weight : 0;
    weights_of(g, head, query)[key] = weight * kept;
    slopes_of(g, head, query)[key] = weight * (slope * kept - deltas_of(g, head)[query]) * bend;
}

template <class type> static __device__ __forceinline__ void of_queries(const backward_arguments &g)
{
    int query = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    int head = blockIdx.z;
    if (query >= g.queries || column >= g.dim)
        return;
    long long k = (long long)(head / g.group) * g.keys * g.dim + column;
    const float *slope = slopes_of(g, head, query);
    float sum = 0;
    for (int i = 0; i <= last_key(g, query); i++)
        sum = fmaf(slope[i], type::load(g.k, k + (long long)i * g.dim), sum);
    type::store(g.dq, ((long long)head * g.queries + query) * g.dim + column, sum * g.scale);
}

template <class type> static __device__ __forceinline__ void of_keys(const backward_arguments &g)
{
    int key = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    int kv_head = blockIdx.z;
    if (key >= g.keys || column >= g.dim)
        return;
    float dk = 0, dv = 0;
    for (int head = kv_head * g.group; head < (kv_head + 1) * g.group; head++)
        for (int i = 0; i < g.queries; i++) {
            long long q = ((long long)head * g.queries + i) * g.dim + column;
            dk = fmaf(slopes_of(g, head, i)[key], type::load(g.q, q), dk);
            dv = fmaf(weights_of(g, head, i)[key], type::load(g.grad, q), dv);
        }
    long long to = ((long long)kv_head * g.keys + key) * g.dim + column;
    type::store(g.dk, to, dk * g.scale);
    type::store(g.dv, to, dv);
}

#define BACKWARD(type)                                                                             \
    PREPARE(type)                                                                                  \
    extern "C" __global__ void scores_##type(const __grid_constant__ backward_arguments g)         \
    {                                                                                              \
        scores<type>(g);                                                                           \
    }                                                                                              \
    extern "C" __global__ void of_queries_##type(const __grid_constant__ backward_arguments g)     \
    {                                                                                              \
        of_queries<type>(g);                                                                       \
    }                                                                                              \
    extern "C" __global__ void of_keys_##type(const __grid_constant__ backward_arguments g)        \
    {                                                                                              \
        of_keys<type>(g);                                                                          \
    }
BACKWARD(bf16)
BACKWARD(f16)
BACKWARD(f32)
