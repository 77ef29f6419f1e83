/*
 * heads.h: heads of queries and of keys, as the descriptions of attention's public calls give them.
 */
#ifndef LOCKSTEP_KERNELS_HOST_HEADS_H
#define LOCKSTEP_KERNELS_HOST_HEADS_H

#include "zoo/api.h"

/* kv_heads as given, or one for each head if that is 0; each serves as many heads as any other. */
static inline lk_status heads_check(const char *call, int64_t heads, int64_t given,
                                    int64_t *kv_heads)
{
    *kv_heads = given ? given : heads;
    if (heads >= 1 && *kv_heads >= 1 && heads % *kv_heads == 0)
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call,
                    "heads is %lld, which is not a multiple of kv_heads, %lld", (long long)heads,
                    (long long)*kv_heads);
}

#endif
