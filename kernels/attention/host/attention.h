/*
 * attention.h: what the files of this family's host share: its parameters and buffers, the lengths
 * of its sequences, and its reference.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_HOST_H
#define LOCKSTEP_KERNELS_ATTENTION_HOST_H

#include "plan.h"

enum {
    ATTENTION_P_BATCH,
    ATTENTION_P_HEADS,
    ATTENTION_P_GROUP,
    ATTENTION_P_QUERIES,
    ATTENTION_P_KEYS,
    ATTENTION_P_DIM,
    ATTENTION_P_TYPE, /* enum attention_number */
    ATTENTION_P_MASK, /* 1: causal */
    ATTENTION_P_WINDOW,
    ATTENTION_P_SOFTCAP,
    ATTENTION_P_LAYOUT, /* enum attention_layout */
    ATTENTION_P_LSE,
    ATTENTION_P_ALSO /* enum attention_also */
};
enum {
    ATTENTION_B_Q,
    ATTENTION_B_K,
    ATTENTION_B_V,
    ATTENTION_B_O,
    ATTENTION_B_LSE,
    ATTENTION_B_Q_BEGIN,
    ATTENTION_B_K_BEGIN,
    ATTENTION_B_SCALES,  /* of e4m3: f32 [3][heads], of Q, K and V */
    ATTENTION_B_LENGTHS, /* of keys, with padding */
    ATTENTION_B_SLOPES,  /* of ALiBi, for each head of Q */
    ATTENTION_BUFFERS
};
/* [batch][head][row][dim]; [batch][row][head][dim]; [row][head][dim] of sequences of all lengths.
 */
enum attention_layout { ATTENTION_HEADS_FIRST, ATTENTION_ROWS_FIRST, ATTENTION_PACKED };
enum attention_also {
    ATTENTION_NOTHING,
    ATTENTION_PADDING,
    ATTENTION_ALIBI,
    ATTENTION_DROPOUT,
    ATTENTION_ALL,
    ATTENTION_ALSO
};
enum attention_distribution {
    ATTENTION_UNIFORM,
    ATTENTION_MATCHED, /* each query is a key, four times as large: one weight is nearly 1 */
    ATTENTION_HUGE,    /* scores of thousands */
    ATTENTION_EQUAL,   /* all scores alike, and V ascending */
    ATTENTION_DISTRIBUTIONS
};

enum zoo_type attention_type(const struct zoo_problem *problem);
/* The problem with its buffers' addresses, which may be NULL. */
struct attention_request attention_request_of(const struct zoo_problem *problem,
                                              const CUdeviceptr *buffer);
/* Rows of sequence `number`; as many as there may be, unless packed. */
int64_t attention_length(const struct zoo_problem *problem, int64_t number, bool of_keys);
/* Does the problem have padding, ALiBi, or dropout? */
bool attention_has(const struct zoo_problem *problem, enum attention_also what);
/* Keys of a sequence that are not padding. */
int64_t attention_visible(const struct zoo_problem *problem, int64_t number);
double attention_slope(int64_t head);
void attention_reference(const struct zoo_problem *problem, void *const *buffer,
                         struct zoo_expected *expected);

#endif
