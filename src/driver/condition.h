/*
 * condition.h: conditional nodes of graphs; see condition.c. drv_lock is held except where a graph
 * runs.
 */
#ifndef LOCKSTEP_DRIVER_CONDITION_H
#define LOCKSTEP_DRIVER_CONDITION_H

#include "driver/state.h"

struct simt_children;

void drv_condition_release(struct drv_condition *condition);
/* A kernel sets it, while it runs: without the lock. False: there is no such handle. */
bool drv_condition_set(struct simt_children *children, uint64_t handle, unsigned value);

CUresult drv_conditional_to_work(CUDA_CONDITIONAL_NODE_PARAMS *params, CUgraph graph,
                                 struct drv_work *work);
void drv_conditional_clear(struct drv_conditional_work *conditional);
void drv_conditional_copy(struct drv_conditional_work *copy); /* a copy gets bodies of its own */
/* The graphs inside a node: a child graph, or the bodies of a conditional node. */
unsigned drv_work_graphs(const struct drv_work *work, CUgraph const **graphs);
/* Graphs with conditional nodes cannot be cloned, nor be in another. */
bool drv_has_conditional(CUgraph graph);
/* Has the graph a handle that no node has? May a body not have one of its nodes? */
bool drv_conditions_unused(CUgraph graph);
bool drv_conditional_refuses(CUgraph graph);

/* As a launch of the graph begins: sets the conditions that have a default. */
void drv_conditions_begin(CUgraph graph);
/* The body to run after so many have run; NULL: the node is done. */
CUgraph drv_conditional_next(const struct drv_conditional_work *conditional, unsigned ran);

#endif
