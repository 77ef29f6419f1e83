/*
 * decode.h: what the kernels of this family share: their arguments, where the cache of a sequence
 * lies, how many keys a query sees, and how parts of a softmax are put together.
 *
 * The cache has pages of `page` keys; a table names the pages of each sequence. Without a table a
 * sequence is one page. The last query stands at the last key, and a query sees keys up to where it
 * stands.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_DECODE_H
#define LOCKSTEP_KERNELS_ATTENTION_DECODE_H

#include "attention_numbers.h"
#include "device.h"

/* kernels/attention_decode/host/decode.h declares the same: keep both alike. Distances are in
 * elements. */
struct decode_arguments {
    const void *q;       // [batch][heads * group][queries][dim]
    const void *k, *v;   // [page][heads][row][dim]
    void *o;             // as q
    void *lse;           // float [batch][heads * group][queries]; may be NULL
    const void *lengths; // int [batch]: keys of each sequence; NULL: `keys` in all
    const void *table;   // int [batch][table_row]: pages of each sequence; NULL: one for each
    void *workspace;
    long long q_row, q_head, q_batch;
    long long row, head, step; // of the cache; step: from a page to the next
    int batch, heads, group;   // heads of K and V, and the queries' heads for each of them
    int queries, keys, dim;
    int page, table_row;
    int parts;   // that a sequence, or all the work, is cut into
    float scale; // what a score is multiplied by, times log2(e)
};

static __device__ __forceinline__ int length_of(const decode_arguments &g, int sequence)
{
    return g.lengths ? min(max(((const int *)g.lengths)[sequence], 0), g.keys) : g.keys;
}
/* Where a key of a sequence lies in K and V. */
static __device__ __forceinline__ long long cache_at(const decode_arguments &g, int sequence,
                                                     int head, int key)
{
    int number = key / g.page;
    long long page =
        g.table ? ((const int *)g.table)[(long long)sequence * g.table_row + number] : sequence;
    return page * g.step + head * g.head + (key - number * g.page) * g.row;
}

/* One query of one head. */
struct decode_row {
    int sequence, head, query;
    int keys;      // that it sees
    long long q;   // where it lies in Q and O
    long long lse; // and its log-sum-exp
};
static __device__ __forceinline__ decode_row row_at(const decode_arguments &g, int sequence,
                                                    int head, int query)
{
    decode_row r = {sequence, head, query};
    r.keys = max(length_of(g, sequence) - g.queries + query + 1, 0);
    r.q = sequence * g.q_batch + head * g.q_head + query * g.q_row;
    r.lse = ((long long)sequence * g.heads * g.group + head) * g.queries + query;
    return r;
}
/* Rows are numbered [batch][head][query]. */
static __device__ __forceinline__ decode_row row_numbered(const decode_arguments &g, int number)
{
    int line = number / g.queries, heads = g.heads * g.group;
    return row_at(g, line / heads, line % heads, number - line * g.queries);
}

/* Parts of a softmax: the largest score (in units of log2) and the sum of exponentials. What the
 * parts' sums must be multiplied by to add up: */
static __device__ __forceinline__ float shrink_to(float largest, float most)
{
    return exp2_fast(largest - (most == lowest() ? 0 : most));
}

#endif
