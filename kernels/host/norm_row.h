/*
 * norm_row.h: the statistics of one row in double, for the data and the reference of the norms.
 */
#ifndef LOCKSTEP_KERNELS_HOST_NORM_ROW_H
#define LOCKSTEP_KERNELS_HOST_NORM_ROW_H

#include "norm.h"

struct norm_row {
    double mean, rstd; /* rmsnorm: mean is 0 */
    double size;       /* the mean of |x| */
};
struct norm_row norm_measure(const struct zoo_problem *problem, const double *x);

#endif
