/*
 * times.h: what timed launches are known to take; see times.c.
 */
#ifndef LOCKSTEP_DRIVER_TIMES_H
#define LOCKSTEP_DRIVER_TIMES_H

#include "driver/state.h"

/* Has this launch been counted often enough that it need not be again? */
bool drv_time_known(const struct drv_kernel_work *kernel, struct simt_known *known);
/* After a launch whose time was wanted. */
void drv_time_learn(const struct drv_kernel_work *kernel, bool counted,
                    const struct simt_stats *stats);

#endif
