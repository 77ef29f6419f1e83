/*
 * decode.h: what the files of this family's host share: its parameters and buffers, the lengths of
 * its sequences, where a key lies in the cache, and its reference.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_DECODE_HOST_H
#define LOCKSTEP_KERNELS_ATTENTION_DECODE_HOST_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_attention_decode;

enum {
    DECODE_P_BATCH,
    DECODE_P_HEADS,
    DECODE_P_GROUP,
    DECODE_P_QUERIES,
    DECODE_P_KEYS,
    DECODE_P_DIM,
    DECODE_P_TYPE, /* bf16, f16, f32 */
    DECODE_P_PAGE, /* keys of a page; 0: the cache is not paged */
    DECODE_P_POOL, /* pages of the cache; 0: as many as are needed */
    DECODE_P_LAYOUT,
    DECODE_P_LENGTHS, /* 1: each sequence has its own */
    DECODE_P_LSE,
    DECODE_P_SCALE /* 0: 1 / sqrt(dim) */
};
enum {
    DECODE_B_Q,
    DECODE_B_K,
    DECODE_B_V,
    DECODE_B_O,
    DECODE_B_LSE,
    DECODE_B_LENGTHS,
    DECODE_B_TABLE,
    DECODE_BUFFERS
};
/* [sequence or page][head][row][dim]; [..][row][head][dim]. */
enum decode_layout { DECODE_HEADS_FIRST, DECODE_ROWS_FIRST };
enum decode_distribution {
    DECODE_UNIFORM,
    DECODE_MATCHED, /* each query is a key, four times as large: one weight is nearly 1 */
    DECODE_HUGE,    /* scores of thousands */
    DECODE_EQUAL,   /* all scores alike, and V ascending */
    DECODE_DISTRIBUTIONS
};

/* As ../decode.h declares it for the kernels. */
struct decode_arguments {
    CUdeviceptr q, k, v, o, lse, lengths, table, workspace;
    long long q_row, q_head, q_batch, row, head, step;
    int batch, heads, group, queries, keys, dim, page, table_row, parts;
    float scale;
};

enum zoo_type decode_type(const struct zoo_problem *problem);
/* With distances and sizes, without addresses. */
struct decode_arguments decode_arguments_of(const struct zoo_problem *problem);
/* Keys of sequence `number`, as the generator makes them. */
int64_t decode_length(const struct zoo_problem *problem, int64_t number);
/* The page that the generator gives to place `number` of all tables. */
int64_t decode_page(const struct zoo_problem *problem, int64_t number);
/* Where a key lies in K and V. */
size_t decode_at(const struct zoo_problem *problem, int64_t sequence, int64_t head, int64_t key);
void decode_reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected);

#endif
