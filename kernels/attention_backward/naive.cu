/*
 * naive.cu: as the formulas say it: weights P and gradients of scores dS as whole matrices in
 * memory, a thread for each; then dQ, dK and dV, a thread for each number. A thread of dK and dV
 * goes through all queries of all heads of its group. This step takes everything: windows, a
 * softcap, packed sequences, padding, ALiBi, and dropout, which is found again from the place of a
 * weight.
 */
// arch: sm_80
#include "backward.h"
#define SIDE 16

/* Row `query` of P, and of dS behind it: [batch][heads * group][queries][keys]. */
static __device__ __forceinline__ float *weights_of(const backward_arguments &g, int head,
                                                    int query)
{
    return (float *)g.workspace + 2 * g.rows + ((long long)head * g.queries + query) * g.keys;
}
static __device__ __forceinline__ float *slopes_of(const backward_arguments &g, int head, int query)
{
    return weights_of(g, g.batch * g.heads * g.group + head, query);
}

static __device__ __forceinline__ bool is_seen(const backward_arguments &g, const sequence &s,
                                               int query, int key)
{
    int diagonal = query + s.keys - s.queries;
    return key >= diagonal - g.left && key <= diagonal + g.right && key < s.visible;
}

/* What dropout multiplies a weight by. */
static __device__ __forceinline__ float kept_of(const backward_arguments &g, const sequence &s,
                                                int head, int query, int key)
{
    if (!g.dropped)
        return 1;
    uint4 words = weight_words(g.low, g.high, words_at(g, s, head, query, key));
    return half_word(words, half_of_weight(query, key)) < (unsigned)g.dropped ? 0 : g.kept;
}
/* ALiBi: what a score loses for its distance from the diagonal, in units of log2. */
static __device__ __forceinline__ float
distance_cost(const backward_arguments &g, const sequence &s, int head, int query, int key)
{
    int distance = query + s.keys - s.queries - key;
    return g.slopes ? ((const float *)g.slopes)[head] * LOG2_E * (float)abs(distance) : 0;
}

/* The first pass of backward.h, of sequences of any length: a warp for each row. */
template <class type>
static __device__ __forceinline__ void prepare_rows(const backward_arguments &g)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, heads = g.heads * g.group;
    int head = blockIdx.y % heads;
    sequence s = sequence_of(g, blockIdx.y / heads);
    if (row >= s.queries)
        return;
    long long line = q_at(g, s, head, row);
    float sum = 0;
    for (int i = threadIdx.x % 32; i < g.dim; i += 32)
        sum = fmaf(type::load(g.grad, line + i), type::load(g.o, line + i), sum);
    sum = sum_of_lanes<32>(sum);
    if (threadIdx.x % 32 == 0) {
        long long from = (s.q_first + row) * g.lse_row + (long long)head * g.lse_head;
        row_at(g, s, head, row)[0] = lse_in_log2(g.lse, from, true);
        row_at(g, s, head, row)[g.rows] = sum;
    }
}

/* A thread for each pair of a query and a key. */
template <class type> static __device__ __forceinline__ void scores(const backward_arguments &g)
{
    int query = blockIdx.y * SIDE + threadIdx.y, key = blockIdx.x * SIDE + threadIdx.x;
    int number = blockIdx.z, head = number % (g.heads * g.group);
    sequence s = sequence_of(g, number / (g.heads * g.group));
    if (query >= s.queries || key >= s.visible)
        return;
    long long q = q_at(g, s, head, query), k = k_at(g, s, head / g.group, key);
    float score = 0, slope = 0;
    for (int i = 0; i < g.dim; i++) {
        score = fmaf(type::load(g.q, q + i), type::load(g.k, k + i), score);
        slope = fmaf(type::load(g.grad, q + i), type::load(g.v, k + i), slope);
    }
    float bend = 1, kept = kept_of(g, s, head, query, key);
    if (g.softcap != 0) {
        float part = tanh_fast(score * g.scale / g.softcap);
        score = g.softcap / g.scale * part;
        bend = 1 - part * part;
    }
    const float *row = row_at(g, s, head, query);
    float base = row[0] + distance_cost(g, s, head, query, key);
    float weight = exp2_fast(fmaf(score, g.scale2, -base));
    weight = is_seen(g, s, query, key) ? weight : 0;
    weights_of(g, number, query)[key] = weight * kept;
    slopes_of(g, number, query)[key] = weight * (slope * kept - row[g.rows]) * bend;
}

template <class type> static __device__ __forceinline__ void of_queries(const backward_arguments &g)
{
    int query = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    int number = blockIdx.z, head = number % (g.heads * g.group);
    sequence s = sequence_of(g, number / (g.heads * g.group));
    if (query >= s.queries || column >= g.dim)
        return;
    long long k = k_at(g, s, head / g.group, 0) + column;
    int last = min(query + s.keys - s.queries + g.right, s.visible - 1);
    const float *slope = slopes_of(g, number, query);
    float sum = 0;
    for (int i = 0; i <= last; i++)
        sum = fmaf(slope[i], type::load(g.k, k + i * g.k_row), sum);
    type::store(g.dq, q_at(g, s, head, query) + column, sum * g.scale);
}

template <class type> static __device__ __forceinline__ void of_keys(const backward_arguments &g)
{
    int key = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    int kv_head = blockIdx.z % g.heads, first = kv_head * g.group;
    sequence s = sequence_of(g, blockIdx.z / g.heads);
    if (key >= s.keys || column >= g.dim)
        return;
    float dk = 0, dv = 0;
    for (int head = first; head < first + g.group && key < s.visible; head++) {
        int number = s.number * g.heads * g.group + head;
        for (int i = 0; i < s.queries; i++) {
            long long q = q_at(g, s, head, i) + column;
            dk = fmaf(slopes_of(g, number, i)[key], type::load(g.q, q), dk);
            dv = fmaf(weights_of(g, number, i)[key], type::load(g.grad, q), dv);
        }
    }
    long long to = k_at(g, s, kv_head, key) + column;
    type::store(g.dk, to, dk * g.scale);
    type::store(g.dv, to, dv);
}

#define BACKWARD(type)                                                                             \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        prepare_##type(const __grid_constant__ backward_arguments g)                               \
    {                                                                                              \
        prepare_rows<type>(g);                                                                     \
    }                                                                                              \
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
