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
/* `product` has the description's sizes and places. */
void scaled_request_of(const lk_gemm_desc *desc, const struct gemm_request *product,
                       struct scaled_request *request);
/* Of a, b, d, and those of d that are computed; for the whole batch. */
void scaled_count_scales(const struct scaled_request *request, int64_t *count);
/* With all addresses in place. */
lk_status scaled_make_plan(struct scaled_request *request, bool d_by_columns,
                           const struct zoo_device *device, struct scaled_plan *plan);

#endif
