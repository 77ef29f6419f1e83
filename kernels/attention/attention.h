/*
 * attention.h: what the kernels of this family share: their arguments, which keys a query sees, and
 * a few functions of CUDA C's missing words.
 *
 * Query i of a sequence with Q queries and K keys stands at the diagonal i + K - Q: the last query
 * sees the last key. It sees keys from `left` before the diagonal to `right` after it.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_H
#define LOCKSTEP_KERNELS_ATTENTION_H

#include "attention_numbers.h"
#include "ragged.h"
#include "weight_dropout.h"
#define LOG2_E 1.4426950409f

/* kernels/attention/host/plan.h declares the same: keep both alike. Distances are in elements. */
struct attention_arguments {
    const void *q, *k, *v; // [batch][heads * group or heads][queries or keys][dim]
    void *o;               // as q
    void *lse;             // float [batch][heads * group][queries]; may be NULL
    void *workspace;
    void *values;                  // e4m3 [heads][dim][v_columns]: V, transposed (values.h)
    void *parts;                   // float: of tiles that blocks share (shares.h); NULL: none
    const void *q_begin, *k_begin; // int [batch + 1]: where sequences begin; NULL: all alike
    const void *lengths;           // int [batch]: keys from there on are padding; NULL: none
    const void *slopes;            // float [heads * group], of ALiBi; NULL: none
    const void *q_scale, *k_scale, *v_scale; // float, what e4m3 is multiplied by; NULL: 1
    long long q_row, q_head, q_batch, k_row, k_head, k_batch;
    long long v_row, v_head, v_batch, o_row, o_head, o_batch;
    int batch, heads, group; // heads of K and V, and the queries' heads for each of them
    int queries, keys;       // of a sequence; of the longest if they differ
    int dim, left, right;
    int lse_row, lse_head;       // from a query to the next, from a head to the next
    int room;                    // for tiles in the workspace, if their order is made there
    int scale_head, scale_batch; // from a head's scale to the next, from a sequence's
    int v_columns;
    int blocks;           // that share tiles
    int is_ragged;        // K's and V's maps are for load_ragged_box, and
    int k_apart, v_apart; // so many rows lie between sequences
    int dropped;          // of 65536 weights; 0: none
    float kept;           // what the others are multiplied by; 1 without dropout
    long long low, high;  // where the counter of dropout begins
    float scale;          // what a score is multiplied by, times log2(e)
    float softcap;        // in scores before they are scaled; 0: none
    float inner;          // 1 / softcap, as far as there is one
    tensor_map q_map, k_map, v_map;
};

/* One head of one sequence. */
struct sequence {
    int q_first, k_first; // rows where it begins, beyond its batch
    int queries, keys, head, kv_head, batch;
    int number;  // of the sequence, packed or not
    int visible; // keys that are not padding
};

static __device__ __forceinline__ sequence sequence_of(const attention_arguments &g, int number)
{
    sequence s;
    int heads = g.heads * g.group, batch = number / heads;
    s.head = number - batch * heads;
    s.kv_head = s.head / g.group;
    s.batch = g.q_begin ? 0 : batch;
    s.number = batch;
    s.q_first = s.k_first = 0;
    s.queries = g.queries;
    s.keys = g.keys;
    if (g.q_begin) {
        const int *q = (const int *)g.q_begin + batch, *k = (const int *)g.k_begin + batch;
        s.q_first = q[0];
        s.k_first = k[0];
        s.queries = q[1] - q[0];
        s.keys = k[1] - k[0];
    }
    s.visible = g.lengths ? max(min(((const int *)g.lengths)[batch], s.keys), 0) : s.keys;
    return s;
}

/* The keys that a query sees: from `first` to `last`. */
struct seen {
    int first, last;
};
static __device__ __forceinline__ seen seen_by(const attention_arguments &g, const sequence &s,
                                               int query)
{
    int diagonal = query + s.keys - s.queries;
    return seen{max(diagonal - g.left, 0), min(diagonal + g.right, s.visible - 1)};
}

/* The keys that any of `rows` queries sees, from `row` on. */
static __device__ __forceinline__ seen seen_by_rows(const attention_arguments &g, const sequence &s,
                                                    int row, int rows)
{
    int last = min(row + rows, s.queries) - 1;
    return seen{seen_by(g, s, row).first, seen_by(g, s, last).last};
}

/* ALiBi: what a score loses for its distance from the diagonal, in units of log2. */
static __device__ __forceinline__ float distance_cost(const attention_arguments &g,
                                                      const sequence &s, int query, int key)
{
    if (!g.slopes)
        return 0;
    int distance = query + s.keys - s.queries - key;
    return ((const float *)g.slopes)[s.head] * LOG2_E *
           (float)(distance < 0 ? -distance : distance);
}

/* A weight after dropout, which depends on its place alone. */
static __device__ __forceinline__ unsigned long long words_at(const attention_arguments &g,
                                                              const sequence &s, int query, int key)
{
    long long head = (long long)s.number * g.heads * g.group + s.head;
    return words_of_weight(head, g.queries, g.keys, query, key);
}
static __device__ __forceinline__ float drop_weight(const attention_arguments &g, const sequence &s,
                                                    int query, int key, float weight)
{
    if (!g.dropped)
        return weight;
    uint4 words = weight_words(g.low, g.high, words_at(g, s, query, key));
    bool gone = half_word(words, half_of_weight(query, key)) < (unsigned)g.dropped;
    return gone ? 0 : weight * g.kept;
}

/* What the scores and the output of a head are multiplied by. */
struct factors {
    float score, value;
};
static __device__ __forceinline__ factors factors_of(const attention_arguments &g,
                                                     const sequence &s)
{
    int at = s.number * g.scale_batch + s.kv_head * g.scale_head;
    float q = g.q_scale ? ((const float *)g.q_scale)[at] : 1.0f;
    float k = g.k_scale ? ((const float *)g.k_scale)[at] : 1.0f;
    return factors{q * k, g.v_scale ? ((const float *)g.v_scale)[at] : 1.0f};
}

static __device__ __forceinline__ float cap_score(const attention_arguments &g, float score)
{
    return g.softcap * tanh_fast(score * g.inner);
}
/* A score in units of log2, ready for exp2. */
static __device__ __forceinline__ float scale_score(const attention_arguments &g, float score)
{
    return (g.softcap != 0 ? cap_score(g, score) : score) * g.scale;
}

static __device__ __forceinline__ void store_lse(const attention_arguments &g, const sequence &s,
                                                 int row, float lse)
{
    if (g.lse)
        *((float *)g.lse + (long long)s.batch * g.heads * g.group * g.queries +
          (long long)s.head * g.lse_head + (long long)(s.q_first + row) * g.lse_row) = lse;
}

/* A box of a tensor [batch][head][row][column], by TMA. */
static __device__ __forceinline__ void load_box(void *shared, const tensor_map *map, int column,
                                                int row, int head, int batch, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(shared_address(b))
                 : "memory");
}

#endif
