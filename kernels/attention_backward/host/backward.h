/*
 * backward.h: what the files of this family's host share: its parameters and buffers, what the
 * kernels are told, and its reference.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_HOST_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_HOST_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_attention_backward;

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
    BACKWARD_P_OFFSET
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
    BACKWARD_BUFFERS
};
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
    int left, right;
    float softcap;
    int dropped;
    float kept;
    long long seed, offset;
    CUtensorMap q_map, k_map, v_map, grad_map;
};

enum zoo_type backward_type(const struct zoo_problem *problem);
double backward_scale(const struct zoo_problem *problem);
/* Keys that a query sees beside where it stands. */
struct backward_window {
    int64_t left, right;
};
struct backward_window backward_window(const struct zoo_problem *problem);
/* O and its log-sum-exp: the result of attention where that is quickly made, else numbers like it.
 */
void backward_forward(const struct zoo_problem *problem, void **buffer);
void backward_reference(const struct zoo_problem *problem, void *const *buffer,
                        struct zoo_expected *expected);

#endif
