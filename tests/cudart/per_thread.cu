// per_thread.cu: built with --default-stream per-thread, so every call is a _ptsz or _ptds one.
// nvcc: --default-stream per-thread
#include "check.h"
#include <thread>

__device__ int variable = 1;
__global__ void add(int *p, int value)
{
    for (int i = 0; i < 100; i++)
        p[threadIdx.x] += value;
    p[0] += variable;
}

static void work(int *result, int value)
{
    int *p, host[4], symbol = value;
    cudaStream_t s;
    MUST(cudaMalloc(&p, 16));
    MUST(cudaMemset(p, 0, 16));
    for (int i = 0; i < 10; i++)
        add<<<1, 4>>>(p, value);
    MUST(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    result[0] = host[0];
    MUST(cudaMemcpyAsync(host, p, 16, cudaMemcpyDeviceToHost));
    MUST(cudaStreamSynchronize(0));
    result[1] = host[3];
    MUST(cudaMemcpyFromSymbol(&symbol, variable, 4));
    result[2] = symbol;
    cudaEvent_t event;
    MUST(cudaEventCreate(&event));
    MUST(cudaEventRecord(event));
    MUST(cudaEventSynchronize(event));
    MUST(cudaMallocAsync(&p, 100, 0));
    MUST(cudaMemset2D(p, 20, 1, 20, 5));
    MUST(cudaFreeAsync(p, 0));
    cudaGraph_t graph;
    MUST(cudaStreamCreate(&s));
    MUST(cudaStreamBeginCapture(0, cudaStreamCaptureModeThreadLocal)); // the thread's own may
    add<<<1, 1>>>(p, 1);
    MUST(cudaStreamEndCapture(0, &graph));
    size_t nodes;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    result[3] = (int)nodes;
}

int main()
{
    int results[3][4];
    std::thread threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = std::thread(work, results[i], i + 1);
    for (auto &thread : threads)
        thread.join();
    for (auto &r : results)
        printf("%d %d %d %d\n", r[0], r[1], r[2], r[3]);
}
