/*
 * peer_cub.cu: the same scans by CUB, for 'lockstep bench'.
 */
#include "peer_cub.h"

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
