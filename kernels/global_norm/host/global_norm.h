/*
 * global_norm.h: the family's launches, for lk_adamw.c as well.
 */
#ifndef LOCKSTEP_GLOBAL_NORM_H
#define LOCKSTEP_GLOBAL_NORM_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_global_norm;

enum { NORM_F32, NORM_BF16 };

/* Without an array of gradients the table has addresses. */
struct norm_launch {
    CUdeviceptr grad, table, norm, workspace;
    int tensors, type;
    int64_t units;
    float most;
};
/* Of two_stage: bytes for a sum of each block. */
size_t global_norm_workspace(const struct zoo_device *device, int64_t units, int blocks_per_sm);
CUresult global_norm_run(struct zoo_call *call, const struct norm_launch *launch, unsigned blocks);
CUresult global_norm_clip(struct zoo_call *call, const struct norm_launch *launch);

#endif
