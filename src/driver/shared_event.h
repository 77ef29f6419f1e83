/*
 * shared_event.h: events that other processes see (CU_EVENT_INTERPROCESS); see shared_event.c.
 */
#ifndef LOCKSTEP_DRIVER_SHARED_EVENT_H
#define LOCKSTEP_DRIVER_SHARED_EVENT_H

#include "driver/state.h"

struct drv_shared_event *drv_shared_new(void); /* NULL: the system has none */
void drv_shared_release(struct drv_shared_event *shared);

/* Work that marks the next record, or waits for the latest one. Lock held. */
struct drv_work drv_shared_record(struct drv_shared_event *shared);
struct drv_work drv_shared_wait(struct drv_shared_event *shared);
/* Runs such work: without the lock. */
void drv_shared_run(const struct drv_work *work);

/* event.c: a new event. Lock held. */
CUevent drv_event_new(CUcontext context, unsigned flags);
/* May a node of a graph record it, or wait for it? */
CUresult drv_event_in_graph(CUevent event);

/* Has the latest record been reached? */
bool drv_shared_done(const struct drv_shared_event *shared);

#endif
