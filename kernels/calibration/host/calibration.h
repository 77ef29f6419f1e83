/*
 * calibration.h: inside the family calibration: its parameters, its groups and its reference.
 */
#ifndef LOCKSTEP_KERNELS_CALIBRATION_CALIBRATION_H
#define LOCKSTEP_KERNELS_CALIBRATION_CALIBRATION_H

#include "formats.h"
#include "zoo/zoo.h"

extern const struct zoo_family zoo_calibration;

/* The family's parameters, in order, and their words. */
enum { CAL_ROWS, CAL_COLS, CAL_METHOD, CAL_FORMAT, CAL_SCALES, CAL_TYPE, CAL_PERCENT };
enum { CAL_ABSMAX, CAL_PERCENTILE, CAL_MSE, CAL_AWQ };
enum { CAL_TENSOR, CAL_ROW, CAL_BLOCK128 };

enum { CAL_X, CAL_OUT, CAL_MEANS }; /* buffers; the last one of CAL_AWQ alone */

/* As groups.h has them. */
enum { CAL_RATIOS = 64, CAL_EXPONENTS = 20 };
struct cal_groups {
    int64_t rows, cols, count, per_row, length;
    int method;
    enum number_format format;
    enum zoo_type type;
    float percent;
};
struct cal_groups cal_groups_of(const struct zoo_problem *problem);

void cal_reference(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected);

#endif
