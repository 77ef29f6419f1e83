/*
 * peer_cub.cu: the same reductions by CUB, for 'lockstep bench'.
 */
#include "peer_cub.h"

#include <cuda_bf16.h>
#include <thrust/iterator/transform_iterator.h>

enum { SUM, MIN, MAX, ARGMAX };
enum { F32, F64, I32, BF16 };

/* bf16 is summed in f32, as ours is. */
struct widen {
    __device__ float operator()(__nv_bfloat16 x) const
    {
        return __bfloat162float(x);
    }
};

template <class In, class Out>
static cudaError_t reduce(void *workspace, size_t &bytes, In in, Out *out, long long n, int op,
                          cudaStream_t stream)
{
    switch (op) {
    case SUM:
        return cub::DeviceReduce::Sum(workspace, bytes, in, out, n, stream);
    case MIN:
        return cub::DeviceReduce::Min(workspace, bytes, in, out, n, stream);
    default:
        return cub::DeviceReduce::Max(workspace, bytes, in, out, n, stream);
    }
}

/* CUB gives the value too; it goes to the workspace's first bytes. */
template <class In>
static cudaError_t argmax(void *workspace, size_t &bytes, In in, void *out, long long n,
                          cudaStream_t stream)
{
    enum { VALUE_BYTES = 256 };
    using value = cub::detail::it_value_t<In>;
    size_t rest = workspace ? bytes - VALUE_BYTES : 0;
    cudaError_t status =
        cub::DeviceReduce::ArgMax(workspace ? (char *)workspace + VALUE_BYTES : NULL, rest, in,
                                  (value *)workspace, (long long *)out, n, stream);
    if (!workspace)
        bytes = rest + VALUE_BYTES;
    return status;
}

template <class In, class Out>
static cudaError_t either(const struct lk_peer_call *call, void *workspace, size_t &bytes, In in,
                          Out *out)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int op = (int)call->value[1];
    if (op == ARGMAX)
        return argmax(workspace, bytes, in, call->buffer[1], call->value[0], stream);
    return reduce(workspace, bytes, in, out, call->value[0], op, stream);
}

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    void *in = call->buffer[0], *out = call->buffer[1];
    switch (call->value[2]) {
    case F32:
        return either(call, workspace, bytes, (const float *)in, (float *)out);
    case F64:
        return either(call, workspace, bytes, (const double *)in, (double *)out);
    case I32:
        return either(call, workspace, bytes, (const int *)in, (int *)out);
    default:
        return either(call, workspace, bytes,
                      thrust::make_transform_iterator((const __nv_bfloat16 *)in, widen()),
                      (float *)out);
    }
}
