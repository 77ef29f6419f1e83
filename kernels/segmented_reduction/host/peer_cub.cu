/*
 * peer_cub.cu: the same segmented sums by CUB, for 'lockstep bench'.
 */
#include "peer_cub.h"

enum { N, SEGMENTS };

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    const int *offsets = (const int *)call->buffer[1];
    return cub::DeviceSegmentedReduce::Sum(workspace, bytes, (const float *)call->buffer[0],
                                           (float *)call->buffer[2], call->value[SEGMENTS], offsets,
                                           offsets + 1, (cudaStream_t)call->stream);
}
