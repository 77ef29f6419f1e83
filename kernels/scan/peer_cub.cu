/*
 * peer_cub.cu: the same scans by CUB, for 'lockstep bench'.
 */
#include "peer.h"

#include <cub/cub.cuh>
#include <stdio.h>

template <class T>
static cudaError_t scan(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    const T *in = (const T *)call->buffer[0];
    T *out = (T *)call->buffer[1];
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (call->value[1])
        return cub::DeviceScan::ExclusiveSum(workspace, bytes, in, out, call->value[0], stream);
    return cub::DeviceScan::InclusiveSum(workspace, bytes, in, out, call->value[0], stream);
}

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    return call->value[2] ? scan<int>(call, workspace, bytes) : scan<float>(call, workspace, bytes);
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
