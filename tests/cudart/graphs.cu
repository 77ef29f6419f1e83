// graphs.cu: capture, explicit nodes, parameters read and changed, updates, errors of capture.
// cuda: 13.0
#include "check.h"

__constant__ int increment = 1;
__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value * increment;
}

static void count(void *data)
{
    ++*(int *)data;
}

static int *buffer, host[4], calls;

static void captured()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    MUST(cudaStreamCreate(&s));
    MUST(cudaMemset(buffer, 0, 16));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 4, 0, s>>>(buffer, 5);
    MUST(cudaLaunchHostFunc(s, count, &calls));
    MUST(cudaMemcpyAsync(host, buffer, 16, cudaMemcpyDeviceToHost, s));
    MUST(cudaStreamIsCapturing(s, &status));
    MUST(cudaStreamEndCapture(s, &graph));
    size_t nodes, edges, roots;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    MUST(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    MUST(cudaGraphGetRootNodes(graph, nullptr, &roots));
    printf("status %d, %zu nodes, %zu edges, %zu root\n", status, nodes, edges, roots);
    cudaGraphNode_t node[3];
    MUST(cudaGraphGetNodes(graph, node, &nodes));
    for (int i = 0; i < 3; i++) {
        cudaGraphNodeType type;
        MUST(cudaGraphNodeGetType(node[i], &type));
        printf("type %d\n", type);
    }
    cudaKernelNodeParams kernel;
    MUST(cudaGraphKernelNodeGetParams(node[0], &kernel));
    printf("kernel %d, block %u, arguments %d %d\n", kernel.func == (void *)add, kernel.blockDim.x,
           *(int **)kernel.kernelParams[0] == buffer, *(int *)kernel.kernelParams[1]);
    cudaMemcpy3DParms copy;
    MUST(cudaGraphMemcpyNodeGetParams(node[2], &copy));
    printf("copy kind %d, %zu %zu %zu, %d %d\n", copy.kind, copy.extent.width, copy.extent.height,
           copy.extent.depth, copy.srcPtr.ptr == buffer, copy.dstPtr.ptr == host);
    SHOW(cudaGraphKernelNodeGetParams(node[1], &kernel));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, s));
    MUST(cudaGraphLaunch(exec, s));
    MUST(cudaStreamSynchronize(s));
    printf("result %d %d, calls %d\n", host[0], host[3], calls);
    int *other = buffer + 8, value = 3;
    void *arguments[] = {&other, &value};
    kernel = {(void *)add, 1, 2, 0, arguments, nullptr};
    MUST(cudaMemset(buffer, 0, 64));
    MUST(cudaGraphExecKernelNodeSetParams(exec, node[0], &kernel));
    MUST(cudaGraphExecMemcpyNodeSetParams1D(exec, node[2], host, other, 16,
                                            cudaMemcpyDeviceToHost));
    MUST(cudaGraphNodeSetEnabled(exec, node[0], 1));
    MUST(cudaGraphLaunch(exec, s));
    MUST(cudaStreamSynchronize(s));
    printf("changed %d %d %d\n", host[0], host[1], host[2]);
    cudaGraph_t clone;
    cudaGraphExecUpdateResultInfo info;
    MUST(cudaGraphClone(&clone, graph));
    SHOW(cudaGraphExecUpdate(exec, clone, &info));
    printf("update %d\n", info.result);
    cudaGraphNode_t empty;
    MUST(cudaGraphAddEmptyNode(&empty, clone, nullptr, 0));
    SHOW(cudaGraphExecUpdate(exec, clone, &info));
    printf("update %d\n", info.result);
    MUST(cudaGraphDestroy(clone));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(s));
}

static void built()
{
    cudaGraph_t graph, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, work, back, constant, sub;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphCreate(&child, 0));
    cudaMemsetParams memset = {buffer, 0, 10, 4, 4, 1};
    MUST(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
    int two = 2;
    MUST(cudaGraphAddMemcpyNodeToSymbol(&constant, graph, nullptr, 0, increment, &two, 4, 0,
                                        cudaMemcpyHostToDevice));
    int value = 100;
    void *arguments[] = {&buffer, &value};
    cudaKernelNodeParams kernel = {(void *)add, 1, 4, 0, arguments, nullptr};
    cudaGraphNode_t in_child;
    MUST(cudaGraphAddKernelNode(&in_child, child, nullptr, 0, &kernel));
    MUST(cudaGraphAddChildGraphNode(&sub, graph, &fill, 1, child));
    value = 1000;
    MUST(cudaGraphAddKernelNode(&work, graph, &sub, 1, &kernel));
    MUST(cudaGraphAddDependencies(graph, &constant, &sub, nullptr, 1));
    MUST(cudaGraphAddMemcpyNode1D(&back, graph, &work, 1, host, buffer, 16,
                                  cudaMemcpyDeviceToHost));
    size_t depends;
    MUST(cudaGraphNodeGetDependencies(sub, nullptr, nullptr, &depends));
    printf("depends on %zu\n", depends);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    printf("built %d %d\n", host[0], host[3]);
    kernel.func = (void *)&calls;
    SHOW(cudaGraphAddKernelNode(&work, graph, nullptr, 0, &kernel));
    kernel.func = nullptr;
    SHOW(cudaGraphAddKernelNode(&work, graph, nullptr, 0, &kernel));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemset;
    params.memset = {buffer, 0, 1, 4, 4, 1};
    MUST(cudaGraphAddNode(&work, graph, &back, nullptr, 1, &params));
    SHOW(cudaGraphCreate(&graph, 1));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(child));
}

static void broken_captures()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    int *p;
    MUST(cudaStreamCreate(&s));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaStreamSynchronize(s));
    MUST(cudaStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cudaStreamEndCapture(s, &graph));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaStreamEndCapture(s, &graph));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
    SHOW(cudaStreamEndCapture(s, &graph));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    LAUNCHED((add<<<1, 1>>>(buffer, 1)));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaGraphLaunch(nullptr, s));
}

int main()
{
    MUST(cudaMalloc(&buffer, 64));
    captured();
    built();
    broken_captures();
}
