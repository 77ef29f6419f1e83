// race_graph.cu: a graph whose two kernels touch one buffer, and which has no edge between them.
__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

__global__ void sum(const int *a, int *out)
{
    atomicAdd(out, a[threadIdx.x]); // expect: race "between graph nodes"
}

int main()
{
    int *a, *out;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, first, second;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams zero = {out, 0, 0, 4, 1, 1};
    cudaGraphAddMemsetNode(&clear, graph, NULL, 0, &zero);
    void *fill_words[] = {&a}, *sum_words[] = {&a, &out};
    cudaKernelNodeParams params = {(void *)fill, dim3(1), dim3(64), 0, fill_words, NULL};
    cudaGraphAddKernelNode(&first, graph, NULL, 0, &params);
    params.func = (void *)sum;
    params.kernelParams = sum_words;
    cudaGraphNode_t before[] = {clear, first};
#ifdef FIXED
    cudaGraphAddKernelNode(&second, graph, before, 2, &params);
#else
    cudaGraphAddKernelNode(&second, graph, before, 1, &params);
#endif
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0); // expect: race
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(a);
    cudaFree(out);
}
