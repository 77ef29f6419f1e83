/*
 * cross_entropy.h: what the files of this family's host share: its parameters and buffers, its
 * reference.
 */
#ifndef LOCKSTEP_KERNELS_CROSS_ENTROPY_H
#define LOCKSTEP_KERNELS_CROSS_ENTROPY_H

#include "zoo/zoo.h"

enum { CE_ROWS, CE_COLS, CE_TYPE, CE_STEP, CE_REDUCE, CE_SMOOTHING, CE_SCALE, CE_IGNORE };
enum { STEP_FUSED, STEP_FORWARD };
enum { REDUCE_MEAN, REDUCE_SUM };
enum { CE_LOGITS, CE_LABELS, CE_LOSSES, CE_TOTAL, CE_BUFFERS };
enum { CE_UNIFORM, CE_LARGE, CE_ONE_HUGE, CE_IGNORED, CE_WRONG_LABELS, CE_SPECIAL };

extern const struct zoo_family zoo_cross_entropy;

enum zoo_type cross_entropy_type(const struct zoo_problem *problem);
int64_t cross_entropy_ignore(const struct zoo_problem *problem);
void cross_entropy_generate(const struct zoo_problem *problem, void **buffer);
void cross_entropy_reference(const struct zoo_problem *problem, void *const *buffer,
                             struct zoo_expected *expected);

#endif
