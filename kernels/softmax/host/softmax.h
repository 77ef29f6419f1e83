/*
 * softmax.h: what the files of this family's host share: its parameters and buffers, its reference
 * and its launches.
 */
#ifndef LOCKSTEP_KERNELS_SOFTMAX_H
#define LOCKSTEP_KERNELS_SOFTMAX_H

#include "zoo/zoo.h"

enum { SM_ROWS, SM_COLS, SM_TYPE, SM_OP, SM_STEP, SM_MASK, SM_GROUP, SM_SCALE };
enum { OP_SOFTMAX, OP_LOG_SOFTMAX, OP_LOG_SUM_EXP };
enum { STEP_FORWARD, STEP_BACKWARD };
enum { MASK_CAUSAL = 1, MASK_PADDING = 2, MASK_ADDITIVE = 4 };
/* Forward: x, bias, lengths, out. Backward: y, dy, lengths, dx. */
enum { SM_IN, SM_SECOND, SM_LENGTHS, SM_OUT, SM_BUFFERS };
enum {
    SOFTMAX_UNIFORM,
    SOFTMAX_LARGE,
    SOFTMAX_ONE_HUGE,
    SOFTMAX_MINUS_INFINITY,
    SOFTMAX_TINY,
    SOFTMAX_SPECIAL
};

extern const struct zoo_family zoo_softmax;

enum zoo_type softmax_type(const struct zoo_problem *problem);
/* Of the columns, as the masks have it; lengths may be NULL if there is no such mask. */
int64_t softmax_visible(const struct zoo_problem *problem, const int32_t *lengths, int64_t row);

void softmax_generate(const struct zoo_problem *problem, void **buffer);
void softmax_reference(const struct zoo_problem *problem, void *const *buffer,
                       struct zoo_expected *expected);

/* The steps are written for plain rows of bf16; those of whole vectors for rows of multiples of 8.
 */
CUresult softmax_launch_simple(struct zoo_call *call);
CUresult softmax_launch_registers(struct zoo_call *call);
CUresult softmax_launch_shared(struct zoo_call *call);
CUresult softmax_launch_cluster(struct zoo_call *call);
CUresult softmax_launch_generic(struct zoo_call *call);
CUresult softmax_launch_generic_cluster(struct zoo_call *call);
bool softmax_fits_registers(const struct zoo_call *call);
bool softmax_fits_shared(const struct zoo_call *call);
bool softmax_fits_cluster(const struct zoo_call *call);
bool softmax_fits_generic_cluster(const struct zoo_call *call);

#endif
