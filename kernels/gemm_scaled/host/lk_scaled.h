/*
 * lk_scaled.h: lk_gemm where a and b have 8 bits: what of a description is checked, and its plan.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_LK_SCALED_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_LK_SCALED_H

#include "plan.h"

#include "lockstep.h"

bool scaled_is_type(lk_type type);
/* What the description says beside sizes and places. */
lk_status scaled_check(const lk_gemm_desc *desc);
/* Of a, b and d, in numbers. */
void scaled_count_scales(const lk_gemm_desc *desc, int64_t *count);
void scaled_request_of(const lk_gemm_desc *desc, int64_t a_pitch, int64_t b_pitch, int64_t d_pitch,
                       struct scaled_request *request);
/* buffer: a, b, d and their scales. */
lk_status scaled_make_plan(struct scaled_request *request, bool d_by_columns,
                           const struct zoo_device *device, const void *const *buffer,
                           struct scaled_plan *plan);

#endif
