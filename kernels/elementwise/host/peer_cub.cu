/*
 * peer_cub.cu: the same operations by CUB, for 'lockstep bench'.
 */
#include "peer.h"

#include <cub/cub.cuh>
#include <cuda/std/tuple>
#include <stdio.h>

enum { ADD, SCALE, RELU, SAXPY };

struct add {
    __device__ float operator()(float x, float y) const
    {
        return x + y;
    }
};
struct scale {
    float scalar;
    __device__ float operator()(float x) const
    {
        return scalar * x;
    }
};
struct relu {
    __device__ float operator()(float x) const
    {
        return x < 0 ? 0 : x;
    }
};
struct saxpy {
    float scalar;
    __device__ float operator()(float x, float y) const
    {
        return fmaf(scalar, x, y);
    }
};

template <class F>
static int one(const struct lk_peer_call *call, F f)
{
    const float *x = (const float *)call->buffer[0];
    return (int)cub::DeviceTransform::Transform(cuda::std::make_tuple(x), (float *)call->buffer[1],
                                                call->value[0], f, (cudaStream_t)call->stream);
}

template <class F>
static int two(const struct lk_peer_call *call, int out, F f)
{
    const float *x = (const float *)call->buffer[0], *y = (const float *)call->buffer[1];
    return (int)cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y),
                                                (float *)call->buffer[out], call->value[0], f,
                                                (cudaStream_t)call->stream);
}

size_t peer_workspace(const struct lk_peer_call *call)
{
    (void)call;
    return 0;
}

int peer_run(const struct lk_peer_call *call)
{
    float scalar = (float)call->value[2]; /* benchmarks give whole numbers */
    switch (call->value[1]) {
    case ADD:
        return two(call, 2, add{});
    case SCALE:
        return one(call, scale{scalar});
    case RELU:
        return one(call, relu{});
    default:
        return two(call, 1, saxpy{scalar});
    }
}

const char *peer_version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
             CUB_SUBMINOR_VERSION);
    return text;
}
