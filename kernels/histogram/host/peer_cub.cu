/*
 * peer_cub.cu: the same histograms by CUB, for 'lockstep bench'. Its bins agree with ours where
 * bins is a power of two; elsewhere its arithmetic may put an element on an edge into the next bin.
 */
#include "peer_cub.h"

enum { N, BINS, TYPE };
enum { F32, U8 };

static cudaError_t run(const struct lk_peer_call *call, void *workspace, size_t &bytes)
{
    void *in = call->buffer[0];
    unsigned *counts = (unsigned *)call->buffer[1];
    long long n = call->value[N];
    int bins = (int)call->value[BINS];
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (call->value[TYPE] == U8)
        return cub::DeviceHistogram::HistogramEven(workspace, bytes, (const unsigned char *)in,
                                                   counts, bins + 1, 0, bins, n, stream);
    return cub::DeviceHistogram::HistogramEven(workspace, bytes, (const float *)in, counts,
                                               bins + 1, 0.0f, 1.0f, n, stream);
}
