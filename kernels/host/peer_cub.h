/*
 * peer_cub.h: the three functions of peer.h for a peer that is one call of CUB. The file defines
 *   static cudaError_t run(const struct lk_peer_call *, void *workspace, size_t &bytes)
 * Without a workspace the call says how many bytes it needs.
 */
#ifndef LOCKSTEP_KERNELS_PEER_CUB_H
#define LOCKSTEP_KERNELS_PEER_CUB_H

#include "peer.h"

#include <cub/cub.cuh>
#include <stdio.h>

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes);

/* Never 0, so that the second call has a workspace. */
size_t peer_workspace(const struct lk_peer_call *call)
{
    size_t bytes = 0;
    run(call, NULL, bytes);
    return bytes + 1;
}

int peer_run(const struct lk_peer_call *call)
{
    size_t bytes = call->workspace_bytes;
    return (int)run(call, call->workspace, bytes);
}

const char *peer_version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
             CUB_SUBMINOR_VERSION);
    return text;
}

#endif
