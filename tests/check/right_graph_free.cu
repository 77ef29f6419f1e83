// right_graph_free.cu: a graph's copy waits in its stream while the host already asks for what comes
// after the graph: another copy of the same memory, and its asynchronous free. The stream orders them.
#include <cuda_runtime.h>

__global__ void slow(unsigned *out)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < 300000; i++)
        x = x * 1664525 + 1013904223;
    out[threadIdx.x] = x;
}

int main()
{
    static int host[64];
    int *a;
    unsigned *out;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&out, 32 * sizeof(unsigned));
    cudaMallocAsync(&a, sizeof host, stream);
    cudaMemsetAsync(a, 0, sizeof host, stream);
    cudaStreamSynchronize(stream);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t copy;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaGraphInstantiate(&exec, graph, 0);
    slow<<<1, 32, 0, stream>>>(out);
    cudaGraphLaunch(exec, stream);
    cudaMemsetAsync(a, 1, sizeof host, stream);
    cudaFreeAsync(a, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(out);
}
