/*
 * quantise.h: the family's parameters, in their order, and its words; for lk_quantise.c as well.
 */
#ifndef LOCKSTEP_QUANTISE_H
#define LOCKSTEP_QUANTISE_H

#include "formats.h"
#include "zoo/zoo.h"

extern const struct zoo_family zoo_quantise;

enum { Q_ROWS, Q_COLS, Q_FORMAT, Q_SCALES, Q_SOURCE, Q_ROUNDING, Q_DIRECTION, Q_TYPE, Q_KEY };

enum { Q_E4M3, Q_E5M2, Q_INT8, Q_INT4, Q_MXFP8, Q_MXFP8_E5M2, Q_MXFP4, Q_NVFP4, Q_FORMATS };
enum { Q_TENSOR, Q_ROW, Q_CHANNEL, Q_BLOCK32, Q_BLOCK128 };
enum { Q_ABSMAX, Q_GIVEN };
enum { Q_NEAREST, Q_STOCHASTIC };
enum { Q_FORWARD, Q_BACK };

/* What a problem comes down to. */
struct q_layout {
    enum number_format numbers;
    enum zoo_type type;
    bool floats, powers, two_levels; /* what the scales are; two_levels: NVFP4 */
    int block;                       /* numbers of a row that share a scale; 0: other groups */
    size_t scales, row_bytes;
};
struct q_layout q_layout(const struct zoo_problem *problem);

void q_reference(const struct zoo_problem *problem, void *const *buffer,
                 struct zoo_expected *expected);

#endif
