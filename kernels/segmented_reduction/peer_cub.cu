/*
 * peer_cub.cu: the same segmented sums by CUB, for 'lockstep bench'.
 */
#include "peer.h"

#include <cub/cub.cuh>
#include <stdio.h>

enum { N, SEGMENTS };

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    const int *offsets = (const int *)call->buffer[1];
    return cub::DeviceSegmentedReduce::Sum(workspace, bytes, (const float *)call->buffer[0],
                                           (float *)call->buffer[2], call->value[SEGMENTS], offsets,
                                           offsets + 1, (cudaStream_t)call->stream);
}

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
