/*
 * mlp.h: inside the family mlp: its parameters, its buffers and its reference.
 */
#ifndef LOCKSTEP_KERNELS_MLP_MLP_H
#define LOCKSTEP_KERNELS_MLP_MLP_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_mlp;

/* The family's parameters, in order. */
enum {
    MLP_TOKENS,
    MLP_DIM,
    MLP_HIDDEN,
    MLP_FUNCTION,
    MLP_GATE,
    MLP_BIAS,
    MLP_ORDER,
    MLP_DIRECTION,
    MLP_KEEP,
    MLP_TYPE
};
/* Their words, as passes.h counts the first two. */
enum { MLP_GELU, MLP_GELU_TANH, MLP_SILU };
enum { MLP_NO_GATE, MLP_HALVES, MLP_PAIRS };
enum { MLP_BY_ROWS, MLP_BY_COLUMNS };
enum { MLP_FORWARD, MLP_BACKWARD };

/* Buffers, forward and backward. A bias that there is not has no elements. */
enum { MLP_X, MLP_W1, MLP_W2, MLP_B1, MLP_B2, MLP_Y, MLP_PRE };
enum { MLP_BACK_PRE = 3, MLP_DY, MLP_DX, MLP_DW1, MLP_DW2, MLP_DB1, MLP_DB2 };

/* What the parameters say. */
struct mlp_shape {
    int64_t tokens, dim, hidden, wide; /* wide: of the first product, twice hidden with a gate */
    int function, gate;
    bool bias, by_columns, backward, keep;
    enum zoo_type type;
};
struct mlp_shape mlp_shape_of(const struct zoo_problem *problem);

void mlp_reference(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected);

/* Launches: see launch.c. */
CUresult mlp_launch_separate(struct zoo_call *call);
CUresult mlp_launch_one_pass(struct zoo_call *call);
CUresult mlp_launch_chained(struct zoo_call *call);
size_t mlp_workspace_separate(const struct zoo_call *call);
size_t mlp_workspace_one_pass(const struct zoo_call *call);
size_t mlp_workspace_chained(const struct zoo_call *call);

#endif
