/*
 * lk_rmsnorm.c: the public calls lk_rmsnorm and lk_rmsnorm_backward; kernels/host/lk_norm.c does
 * what both norms need.
 */
#include "lk_norm.h"

static const char forward[] = "rmsnorm", backward[] = "rmsnorm_backward";

lk_status lk_rmsnorm(void *stream, const lk_norm_desc *desc, const void *x, void *y)
{
    return lk_norm_forward(forward, &zoo_rmsnorm, stream, desc, x, y);
}

lk_status lk_rmsnorm_backward(void *stream, const lk_norm_desc *desc, const void *x, const void *dy,
                              void *dx, void *dgamma, void *workspace, size_t workspace_bytes)
{
    return lk_norm_backward(backward, &zoo_rmsnorm, stream, desc, x, dy, dx, dgamma, NULL,
                            workspace, workspace_bytes);
}

lk_status lk_rmsnorm_backward_workspace(const lk_norm_desc *desc, size_t *bytes)
{
    return lk_norm_workspace(backward, &zoo_rmsnorm, desc, bytes);
}

lk_status lk_rmsnorm_explain(const lk_norm_desc *desc, int of_backward, char *text, size_t size)
{
    return lk_norm_explain(of_backward ? backward : forward, &zoo_rmsnorm, desc, of_backward != 0,
                           text, size);
}
