/*
 * lk_norm.h: the public calls of a norm, for lk_rmsnorm.c and lk_layernorm.c: a description becomes
 * a problem of the family, which api_submit checks further and launches.
 */
#ifndef LOCKSTEP_KERNELS_HOST_LK_NORM_H
#define LOCKSTEP_KERNELS_HOST_LK_NORM_H

#include "norm.h"

#include "zoo/api.h"

/* name: "rmsnorm", or "rmsnorm_backward". */
lk_status lk_norm_forward(const char *name, const struct zoo_family *family, void *stream,
                          const lk_norm_desc *desc, const void *x, void *y);
lk_status lk_norm_backward(const char *name, const struct zoo_family *family, void *stream,
                           const lk_norm_desc *desc, const void *x, const void *dy, void *dx,
                           void *dgamma, void *dbeta, void *workspace, size_t workspace_bytes);
lk_status lk_norm_workspace(const char *name, const struct zoo_family *family,
                            const lk_norm_desc *desc, size_t *bytes);
lk_status lk_norm_explain(const char *name, const struct zoo_family *family,
                          const lk_norm_desc *desc, bool backward, char *text, size_t size);

#endif
