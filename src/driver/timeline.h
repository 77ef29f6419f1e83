/*
 * timeline.h: the host's side of modelled time, and the timeline that `lockstep profile` shows:
 * what each operation took, from when to when, and which call asked for it; see timeline.c.
 */
#ifndef LOCKSTEP_DRIVER_TIMELINE_H
#define LOCKSTEP_DRIVER_TIMELINE_H

#include "driver/state.h"

/* A call puts op into its stream: lock held. */
void drv_timeline_asked(struct drv_op *op);
/* It is about to run, and has run, in this thread; no lock. */
void drv_timeline_begins(struct drv_op *op);
void drv_timeline_ran(const struct drv_op *op);
bool drv_timeline_in_graph(void); /* does a graph run in this thread? */
/* A node of the graph that runs in this thread has run, until `end`. */
void drv_timeline_node(CUcontext context, const struct drv_work *work, double end);
/* The host has waited for op, or seen that it is done: lock held. */
void drv_timeline_waited(CUcontext context, const struct drv_op *op);
/* At the program's end: lock held. */
void drv_timeline_end(void);

#endif
