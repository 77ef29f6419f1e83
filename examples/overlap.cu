/*
 * overlap.cu: copy in, compute, copy out, chunk by chunk: in one stream, then double buffered over
 * two to four streams so that the three overlap, then the same work as a graph.
 *   lockstep run examples/overlap.cu
 *   lockstep profile examples/overlap.cu --timeline overlap.json    open it in ui.perfetto.dev
 *   nvcc -O3 examples/overlap.cu && ./a.out 4096 64                 64 chunks of 4096 KiB
 * Memory on the host is pinned: copies from pageable memory go through a buffer of the driver's,
 * and the host waits for them.
 */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define STREAMS 4
#ifndef STEPS
#define STEPS 24 /* with some hundred of them the kernels take longer than the copies */
#endif

/* A logistic map: each element takes STEPS dependent steps. */
__global__ void iterate(const float *in, float *out, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float x = in[i];
        for (int k = 0; k < STEPS; k++)
            x = 3.5f * x * (1.0f - x);
        out[i] = x;
    }
}

__global__ void nothing()
{
}

struct work {
    float *in, *out;                        /* [chunks * count], pinned */
    float *device_in[STREAMS], *device_out[STREAMS]; /* [count] each: a stream has its own */
    cudaStream_t streams[STREAMS];
    cudaEvent_t forked, joined[STREAMS];
    int chunks, count;
};

/* Chunk by chunk, in turns: a stream's next chunk waits for its buffers by being in the stream. */
static void put_chunks(struct work *w, int streams)
{
    CHECK(cudaEventRecord(w->forked, w->streams[0]));
    for (int s = 1; s < streams; s++)
        CHECK(cudaStreamWaitEvent(w->streams[s], w->forked, 0));
    for (int i = 0; i < w->chunks; i++) {
        int s = i % streams;
        size_t bytes = w->count * sizeof(float), at = (size_t)i * w->count;
        CHECK(cudaMemcpyAsync(w->device_in[s], w->in + at, bytes, cudaMemcpyHostToDevice,
                              w->streams[s]));
        iterate<<<132, 256, 0, w->streams[s]>>>(w->device_in[s], w->device_out[s], w->count);
        CHECK(cudaMemcpyAsync(w->out + at, w->device_out[s], bytes, cudaMemcpyDeviceToHost,
                              w->streams[s]));
    }
    for (int s = 1; s < streams; s++) {
        CHECK(cudaEventRecord(w->joined[s], w->streams[s]));
        CHECK(cudaStreamWaitEvent(w->streams[0], w->joined[s], 0));
    }
}

/* The copies without the kernels, both ways at once. */
static void put_copies(struct work *w)
{
    size_t bytes = w->count * sizeof(float);
    CHECK(cudaEventRecord(w->forked, w->streams[0]));
    CHECK(cudaStreamWaitEvent(w->streams[1], w->forked, 0));
    for (int i = 0; i < w->chunks; i++) {
        size_t at = (size_t)i * w->count;
        CHECK(cudaMemcpyAsync(w->device_in[0], w->in + at, bytes, cudaMemcpyHostToDevice,
                              w->streams[0]));
        CHECK(cudaMemcpyAsync(w->out + at, w->device_out[1], bytes, cudaMemcpyDeviceToHost,
                              w->streams[1]));
    }
    CHECK(cudaEventRecord(w->joined[1], w->streams[1]));
    CHECK(cudaStreamWaitEvent(w->streams[0], w->joined[1], 0));
}

/* Milliseconds between events around body; the second time, when everything is warm. */
template <typename Body> static float time_of(cudaStream_t stream, Body body)
{
    cudaEvent_t begin, end;
    float ms = 0;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int turn = 0; turn < 2; turn++) {
        CHECK(cudaEventRecord(begin, stream));
        body();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

template <typename Body> static cudaGraphExec_t graph_of(cudaStream_t stream, Body body)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    body();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* Of many elements, some of every chunk. */
static int count_wrong(struct work *w)
{
    size_t all = (size_t)w->chunks * w->count, step = all > (4 << 20) ? 101 : 1;
    int wrong = 0;
    for (size_t i = 0; i < all; i += step) {
        float x = w->in[i], got = w->out[i];
        for (int k = 0; k < STEPS; k++)
            x = 3.5f * x * (1.0f - x);
        wrong += !(got > x - 1e-3f && got < x + 1e-3f);
        w->out[i] = -1; /* so that what the next run leaves out is seen */
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct work w = {0};
    int kib = argc > 1 ? atoi(argv[1]) : 512, wrong = 0;
    w.count = kib * 256;
    w.chunks = argc > 2 ? atoi(argv[2]) : 12;
    size_t bytes = w.count * sizeof(float), all = bytes * w.chunks;
    CHECK(cudaMallocHost(&w.in, all));
    CHECK(cudaMallocHost(&w.out, all));
    CHECK(cudaEventCreateWithFlags(&w.forked, cudaEventDisableTiming));
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamCreateWithFlags(&w.streams[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&w.joined[s], cudaEventDisableTiming));
        CHECK(cudaMalloc(&w.device_in[s], bytes));
        CHECK(cudaMalloc(&w.device_out[s], bytes));
    }
    for (size_t i = 0; i < (size_t)w.chunks * w.count; i++)
        w.in[i] = 0.1f + 0.8f * (float)(i * 7919 % 10007) / 10007;

    /* What each part takes alone: no pipeline is faster than the slowest. Copies in and out share
     * the link's way to memory, and may be slower together than one of them alone. */
    float in = time_of(w.streams[0], [&] {
        for (int i = 0; i < w.chunks; i++)
            CHECK(cudaMemcpyAsync(w.device_in[0], w.in + (size_t)i * w.count, bytes,
                                  cudaMemcpyHostToDevice, w.streams[0]));
    });
    float copy = time_of(w.streams[0], [&] { put_copies(&w); });
    float compute = time_of(w.streams[0], [&] {
        for (int i = 0; i < w.chunks; i++)
            iterate<<<132, 256, 0, w.streams[0]>>>(w.device_in[0], w.device_out[0], w.count);
    });
    float slower = copy > compute ? copy : compute, one = 0;
    printf("%d chunks of %d KiB: copies in alone %.3f ms, in and out %.3f ms, kernels %.3f ms\n",
           w.chunks, kib, in, copy, compute);
    for (int streams = 1; streams <= STREAMS; streams++) {
        float ms = time_of(w.streams[0], [&] { put_chunks(&w, streams); });
        one = streams == 1 ? ms : one;
        printf("%d stream%s  %8.3f ms  %.2fx  %3.0f %% of the slower part's speed\n", streams,
               streams == 1 ? " " : "s", ms, one / ms, 100 * slower / ms);
        wrong += count_wrong(&w);
    }
    cudaGraphExec_t exec = graph_of(w.streams[0], [&] { put_chunks(&w, STREAMS); });
    float ms = time_of(w.streams[0], [&] { CHECK(cudaGraphLaunch(exec, w.streams[0])); });
    printf("as graph   %8.3f ms  %.2fx  %3.0f %% of the slower part's speed\n", ms, one / ms,
           100 * slower / ms);
    wrong += count_wrong(&w);
    CHECK(cudaGraphExecDestroy(exec));

    /* What a launch costs: kernels that do nothing, one after the other. */
    auto launches = [&] {
        for (int i = 0; i < 20; i++)
            nothing<<<1, 32, 0, w.streams[0]>>>();
    };
    exec = graph_of(w.streams[0], launches);
    float single = time_of(w.streams[0], launches);
    float together = time_of(w.streams[0], [&] { CHECK(cudaGraphLaunch(exec, w.streams[0])); });
    printf("an empty kernel: %.2f us in a stream, %.2f us in a graph\n", single * 1000 / 20,
           together * 1000 / 20);
    CHECK(cudaGraphExecDestroy(exec));

    printf("%d of %zu elements are wrong\n", wrong, (size_t)w.chunks * w.count * (STREAMS + 1));
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaFree(w.device_in[s]));
        CHECK(cudaFree(w.device_out[s]));
        CHECK(cudaEventDestroy(w.joined[s]));
        CHECK(cudaStreamDestroy(w.streams[s]));
    }
    CHECK(cudaEventDestroy(w.forked));
    CHECK(cudaFreeHost(w.in));
    CHECK(cudaFreeHost(w.out));
    return wrong != 0;
}
