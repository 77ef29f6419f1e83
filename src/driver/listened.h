/*
 * listened.h: the driver's side of activity.h: entry points say when they begin and end, operations
 * when they were asked for and have run.
 */
#ifndef LOCKSTEP_DRIVER_LISTENED_H
#define LOCKSTEP_DRIVER_LISTENED_H

#include "driver/activity.h"
#include "driver/state.h"

bool drv_is_listened(void);
/* params: a struct of the call's, which lives until it ends. Each begin has its end, which returns
 * the status. */
void drv_call_begins(struct lk_activity_call *call, const char *name, const void *params);
void drv_launch_begins(struct lk_activity_call *call, const char *name, CUfunction handle,
                       const void *params);
void drv_library_begins(struct lk_activity_call *call, const char *name);
CUresult drv_call_ends(struct lk_activity_call *call, CUresult status);

void drv_activity_asked(struct drv_op *op); /* lock held */
/* The operation, or a node of its graph, has run in this thread, until `end`; no lock. */
void drv_activity_ran(const struct drv_op *op, const struct drv_work *work, double end);

#endif
