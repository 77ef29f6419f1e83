/*
 * peer_cub.cu: the same compaction by CUB, for 'lockstep bench'.
 */
#include "peer_cub.h"

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
