/*
 * lk_layernorm.c: the public calls lk_layernorm and lk_layernorm_backward; kernels/host/lk_norm.c
 * does what both norms need.
 */
#include "lk_norm.h"

static const char forward[] = "layernorm", backward[] = "layernorm_backward";

lk_status lk_layernorm(void *stream, const lk_norm_desc *desc, const void *x, void *y)
{
    return lk_norm_forward(forward, &zoo_layernorm, stream, desc, x, y);
}

lk_status lk_layernorm_backward(void *stream, const lk_norm_desc *desc, const void *x,
                                const void *dy, void *dx, void *dgamma, void *dbeta,
                                void *workspace, size_t workspace_bytes)
{
    return lk_norm_backward(backward, &zoo_layernorm, stream, desc, x, dy, dx, dgamma, dbeta,
                            workspace, workspace_bytes);
}

lk_status lk_layernorm_backward_workspace(const lk_norm_desc *desc, size_t *bytes)
{
    return lk_norm_workspace(backward, &zoo_layernorm, desc, bytes);
}

lk_status lk_layernorm_explain(const lk_norm_desc *desc, int of_backward, char *text, size_t size)
{
    return lk_norm_explain(of_backward ? backward : forward, &zoo_layernorm, desc, of_backward != 0,
                           text, size);
}
