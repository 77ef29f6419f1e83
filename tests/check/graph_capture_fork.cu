// graph_capture_fork.cu: a captured fork that is joined before its kernel is launched
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
    cudaStream_t one, two;
    cudaEvent_t begun, done;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaMemset(a, 0, 1024);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&begun);
    cudaEventCreate(&done);
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cudaEventRecord(begun, one);
    cudaStreamWaitEvent(two, begun);
    fill<<<4, 64, 0, two>>>(a);
    cudaEventRecord(done, two);
#ifdef FIXED
    cudaStreamWaitEvent(one, done);
    twice<<<4, 64, 0, one>>>(a, b);
#else
    twice<<<4, 64, 0, one>>>(a, b);
    cudaStreamWaitEvent(one, done);
#endif
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, one);
    cudaStreamSynchronize(one);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaEventDestroy(begun);
    cudaEventDestroy(done);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaFree(a);
    cudaFree(b);
}
