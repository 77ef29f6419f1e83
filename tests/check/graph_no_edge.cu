// graph_no_edge.cu: two kernel nodes of a graph with no edge between them, of which one reads what
// the other writes
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void twice(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * 2; // expect: race
}

int main()
{
    int *a, *b;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t first, second;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaGraphCreate(&graph, 0);
    void *of_first[] = {&a}, *of_second[] = {&a, &b};
    cudaKernelNodeParams params = {};
    params.func = (void *)fill;
    params.gridDim = 4;
    params.blockDim = 64;
    params.kernelParams = of_first;
    cudaGraphAddKernelNode(&first, graph, NULL, 0, &params);
    params.func = (void *)twice;
    params.kernelParams = of_second;
#ifdef FIXED
    cudaGraphAddKernelNode(&second, graph, &first, 1, &params);
#else
    cudaGraphAddKernelNode(&second, graph, NULL, 0, &params);
#endif
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaFree(a);
    cudaFree(b);
}
