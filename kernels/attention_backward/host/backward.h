/*
 * backward.h: what the files of this family's host share: its parameters and buffers, what the
 * kernels are told, and its reference.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_HOST_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_HOST_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_attention_backward;
extern const struct zoo_variant backward_variants[];

enum {
    BACKWARD_P_BATCH,
    BACKWARD_P_HEADS,
    BACKWARD_P_GROUP,
    BACKWARD_P_QUERIES,
    BACKWARD_P_KEYS,
    BACKWARD_P_DIM,
    BACKWARD_P_TYPE,  /* bf16, f16, f32 */
    BACKWARD_P_MASK,  /* 1: causal */
    BACKWARD_P_SCALE, /* 0: 1 / sqrt(dim) */
    BACKWARD_P_WINDOW,
    BACKWARD_P_SOFTCAP,
    BACKWARD_P_DROPOUT, /* of dropout: the share of weights, and */
    BACKWARD_P_SEED,    /* what they are chosen by */
    BACKWARD_P_OFFSET,
    BACKWARD_P_LAYOUT,      /* enum backward_layout */
    BACKWARD_P_ALSO,        /* enum backward_also */
    BACKWARD_P_ALL_QUERIES, /* packed: rows of all sequences; 0: as backward_length says */
    BACKWARD_P_ALL_KEYS
};
enum {
    BACKWARD_B_Q,
    BACKWARD_B_K,
    BACKWARD_B_V,
    BACKWARD_B_O,
    BACKWARD_B_LSE,
    BACKWARD_B_GRAD, /* of O */
    BACKWARD_B_DQ,
    BACKWARD_B_DK,
    BACKWARD_B_DV,
    BACKWARD_B_Q_BEGIN, /* packed: where sequences begin */
    BACKWARD_B_K_BEGIN,
    BACKWARD_B_LENGTHS, /* of keys, with padding */
    BACKWARD_B_SLOPES,  /* of ALiBi, for each head of Q */
    BACKWARD_BUFFERS
};
/* [batch][head][row][dim]; [row][head][dim] of sequences of all lengths, with lse [row][head]. */
enum backward_layout { BACKWARD_HEADS_FIRST, BACKWARD_PACKED };
enum backward_also { BACKWARD_NOTHING, BACKWARD_PADDING, BACKWARD_ALIBI, BACKWARD_BOTH };
enum backward_distribution {
    BACKWARD_UNIFORM,
    BACKWARD_MATCHED, /* each query is a key, four times as large: one weight is nearly 1 */
    BACKWARD_EQUAL    /* all scores alike */
};

/* As ../backward.h declares it for the kernels. */
struct backward_arguments {
    CUdeviceptr q, k, v, o, grad, lse, dq, dk, dv, workspace;
    int batch, heads, group, queries, keys, dim, causal, padded;
    float scale, scale2;
    CUdeviceptr q_begin, k_begin, lengths, slopes;
    long long q_row, q_head, k_row, k_head, rows;
    int lse_row, lse_head, key_tiles, left, right;
    float softcap;
    int dropped;
    float kept;
    long long low, high;
    CUtensorMap q_map, k_map, v_map, grad_map;
};

enum zoo_type backward_type(const struct zoo_problem *problem);
double backward_scale(const struct zoo_problem *problem);
/* Keys that a query sees beside where it stands. */
struct backward_window {
    int64_t left, right;
};
struct backward_window backward_window(const struct zoo_problem *problem);
/* Queries or keys of sequence `number`; as many as there may be, unless packed. */
int64_t backward_length(const struct zoo_problem *problem, int64_t number, bool of_keys);
/* Rows of all sequences. */
int64_t backward_all_rows(const struct zoo_problem *problem, bool of_keys);
bool backward_is_packed(const struct zoo_problem *problem);
/* Neither packed nor with anything but a causal mask. */
bool backward_is_plain(const struct zoo_problem *problem);
/* Is there padding, or ALiBi? */
bool backward_has(const struct zoo_problem *problem, enum backward_also what);
/* O and its log-sum-exp: the result of attention where that is quickly made, else numbers like it.
 */
void backward_forward(const struct zoo_problem *problem, void **buffer);
void backward_reference(const struct zoo_problem *problem, void *const *buffer,
                        struct zoo_expected *expected);

#endif
