/*
 * norm_launch.h: what the launches of rmsnorm and layernorm share.
 */
#ifndef LOCKSTEP_NORM_LAUNCH_H
#define LOCKSTEP_NORM_LAUNCH_H

#include "norm.h"

enum {
    NORM_VECTOR = 16,
    NORM_MOST_BLOCKS = 8 /* of a cluster that every GPU with clusters takes */
};

/* A row over some blocks, and as many of those as run at a time. */
struct norm_staged {
    unsigned blocks, threads, shared, clusters; /* shared is 0 where they do not fit */
    const char *kernel;
};

int64_t norm_vectors(const struct zoo_problem *problem); /* of a row */
bool norm_has_nothing_to_do(const struct zoo_problem *problem);

/* The kernel, or the one for rows that do not begin at multiples of 16 bytes; backward, what adds
 * up the partial sums of the clusters as well. */
CUresult norm_launch_staged_forward(struct zoo_call *call, struct norm_staged s);
CUresult norm_launch_staged_backward(struct zoo_call *call, struct norm_staged s);
/* dgamma and dbeta of `parts` clusters. */
size_t norm_partial_bytes(const struct zoo_problem *problem, size_t parts);

#endif
