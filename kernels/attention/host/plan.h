/*
 * plan.h: an attention to compute, which kernel does it, and how it is launched. The family and the
 * public call lk_attention_forward ask here.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_PLAN_H
#define LOCKSTEP_KERNELS_ATTENTION_PLAN_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_attention;

/* Of e4m3, O is bf16. */
enum attention_number { ATTENTION_BF16, ATTENTION_F16, ATTENTION_F32, ATTENTION_E4M3 };
enum attention_kind {
    ATTENTION_NAIVE,
    ATTENTION_ONLINE,
    ATTENTION_MMA,
    ATTENTION_WGMMA,
    ATTENTION_OVERLAPPED,
    ATTENTION_FP8
};
#define ATTENTION_NO_LIMIT (1 << 28) /* of left and right */

/* From a row to the next, a head to the next, a sequence to the next; in elements. */
struct attention_steps {
    int64_t row, head, batch;
};

/* kernels/attention/attention.h says which keys a query sees. */
struct attention_request {
    enum attention_number number;
    int64_t batch, heads, group, queries, keys, dim;
    int64_t left, right;
    float scale, softcap; /* as users give them; softcap 0: none */
    struct attention_steps q_step, k_step, v_step, o_step;
    bool packed; /* sequences lie one after the other, q_begin and k_begin say where */
    int64_t all_queries, all_keys;                            /* packed: rows of all sequences */
    CUdeviceptr q, k, v, o, lse, q_begin, k_begin, workspace; /* lse may be 0 */
    CUdeviceptr q_scale, k_scale, v_scale;                    /* what e4m3 is multiplied by; 0: 1 */
    CUdeviceptr lengths, slopes; /* of keys, if some are padding; of ALiBi. 0: none */
    bool padded, leaning;        /* whether there are such */
    float dropout;               /* the share of weights that are dropped */
    uint64_t seed, offset;
    int64_t scale_head, scale_batch; /* from a head of K's scale to the next, from a sequence's */
};

/* As ../attention.h declares it for the kernels. */
struct attention_arguments {
    CUdeviceptr q, k, v, o, lse, workspace, values, parts, q_begin, k_begin, lengths, slopes;
    CUdeviceptr q_scale, k_scale, v_scale;
    long long q_row, q_head, q_batch, k_row, k_head, k_batch;
    long long v_row, v_head, v_batch, o_row, o_head, o_batch;
    int batch, heads, group, queries, keys, dim, left, right, lse_row, lse_head, room;
    int scale_head, scale_batch, v_columns, blocks, is_ragged, k_apart, v_apart, dropped;
    float kept;
    long long low, high;
    float scale, softcap, inner;
    CUtensorMap q_map, k_map, v_map;
};

struct attention_launch {
    char kernel[32];
    struct zoo_grid grid;
};
struct attention_plan {
    unsigned launches;
    struct attention_launch launch[3];
    struct attention_arguments arguments;
};

/* A tensor map of sequences that lie one after the other (kernels/include/ragged.h), in boxes of
 * `box_rows` lines of at most 128 bytes. */
struct attention_ragged {
    CUdeviceptr at;
    int64_t dim, heads;
    int64_t row, head; /* elements from one to the next */
};
CUresult attention_ragged_map(const struct lk_driver *cuda, enum attention_number number,
                              CUtensorMap *map, struct attention_ragged tensor, int64_t box_rows);

/* May this kind of kernel compute it? */
bool attention_takes(const struct attention_request *request, enum attention_kind kind);
size_t attention_workspace(const struct attention_request *request, enum attention_kind kind);
/* Of a request that is not empty and that the kind takes. */
CUresult attention_plan_make(const struct attention_request *request, enum attention_kind kind,
                             const struct lk_driver *cuda, int sms, struct attention_plan *plan);

#endif
