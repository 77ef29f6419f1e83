/*
 * peer_cub.cu: the same compaction by CUB, for 'lockstep bench'.
 */
#include "peer.h"

#include <cub/cub.cuh>
#include <stdio.h>

struct above {
    float threshold;
    __device__ bool operator()(float x) const
    {
        return x > threshold;
    }
};

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    above keep = {1 - 2 * (float)call->value[1] / 100};
    return cub::DeviceSelect::If(workspace, bytes, (const float *)call->buffer[0],
                                 (float *)call->buffer[1], (long long *)call->buffer[2],
                                 call->value[0], keep, (cudaStream_t)call->stream);
}

size_t peer_workspace(const struct lk_peer_call *call)
{
    size_t bytes = 0;
    run(call, NULL, bytes);
    return bytes;
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
