/*
 * adamw.h: the family's parameters, in their order, and its launch; for lk_adamw.c as well.
 */
#ifndef LOCKSTEP_ADAMW_H
#define LOCKSTEP_ADAMW_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_adamw;

enum { ADAM_N, ADAM_TENSORS, ADAM_MODE, ADAM_STEP, ADAM_SCALE, ADAM_PLACES };
enum { ADAM_F32, ADAM_MASTER, ADAM_STOCHASTIC };

struct adamw_rates {
    double rate, beta1, beta2, epsilon, decay;
    int64_t step; /* 1 is the first */
};

/* What kernels get of them. */
struct adamw_numbers {
    float keep, rest1, rest2, step, root, epsilon;
};
struct adamw_numbers adamw_numbers_of(const struct adamw_rates *rates);

/* One launch: of all tensors, or of number `from`. Without arrays the table has addresses. */
struct adamw_launch {
    CUdeviceptr param, grad, mean, square, master, table, scale;
    int tensors, from, mode;
    unsigned blocks;
    struct adamw_numbers numbers;
    int64_t seed, offset;
};
CUresult adamw_run(struct zoo_call *call, const struct adamw_launch *launch);

#endif
