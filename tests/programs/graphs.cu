// CUDA graphs: capture of two streams with fork and join, repeated launches, explicit kernel,
// memcpy, memset and host nodes with dependencies, queries of nodes and edges, update of kernel
// parameters in the executable graph, whole-graph update, clone, a child graph, and an error inside
// a capture.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void scale(int *x, int factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

__global__ void sum_two(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void increment(int *x, int by)
{
    atomicAdd(x, by);
}

static int host_calls;
static void host_node(void *data)
{
    host_calls += *(int *)data;
}

static const int n = 256;
static cudaStream_t s1, s2;

// A graph that is made by hand, and what its nodes use.
struct by_hand {
    int *device, out = -1;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t kernel_node, second_node;
    cudaKernelNodeParams kernel = {};
    void build();
    void update();
    void nest();
};

static void capture(int *a, int *b, int *c)
{
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s1));
    CHECK(cudaStreamWaitEvent(s2, fork, 0));
    scale<<<1, n, 0, s1>>>(a, 2, n);
    scale<<<1, n, 0, s2>>>(b, 3, n);
    CHECK(cudaEventRecord(join, s2));
    CHECK(cudaStreamWaitEvent(s1, join, 0));
    sum_two<<<1, n, 0, s1>>>(a, b, c, n);
    cudaStreamCaptureStatus capturing;
    CHECK(cudaStreamIsCapturing(s1, &capturing));
    CHECK(cudaStreamEndCapture(s1, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("captured: was capturing %d, nodes %zu, nothing ran yet: c[5]=%d\n", capturing, nodes,
           c[5]);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, s1));
    CHECK(cudaStreamSynchronize(s1));
    printf("after 3 launches: a[5]=%d b[5]=%d c[5]=%d c[255]=%d\n", a[5], b[5], c[5], c[255]);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// memset -> two kernels -> copy out, and a host node after all.
void by_hand::build()
{
    static int add_value = 10, ten = 10;
    CHECK(cudaMalloc(&device, 4));
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams set = {};
    set.dst = device;
    set.value = 0;
    set.elementSize = 4;
    set.width = 1;
    set.height = 1;
    cudaGraphNode_t set_node, copy_node, call_node;
    CHECK(cudaGraphAddMemsetNode(&set_node, graph, nullptr, 0, &set));
    void *arguments[] = {&device, &add_value};
    kernel.func = (void *)increment;
    kernel.gridDim = dim3(4);
    kernel.blockDim = dim3(8);
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel_node, graph, &set_node, 1, &kernel));
    CHECK(cudaGraphAddKernelNode(&second_node, graph, &set_node, 1, &kernel));
    cudaGraphNode_t both[] = {kernel_node, second_node};
    CHECK(cudaGraphAddMemcpyNode1D(&copy_node, graph, both, 2, &out, device, 4,
                                   cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {host_node, &ten};
    CHECK(cudaGraphAddHostNode(&call_node, graph, &copy_node, 1, &call));
    size_t nodes = 0, roots = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(copy_node, &type));
    printf("by hand: nodes %zu roots %zu edges %zu, copy's type %d\n", nodes, roots, edges,
           (int)type);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s1));
    CHECK(cudaStreamSynchronize(s1));
    printf("result %d (2 * 32 * 10), host calls %d\n", out, host_calls);
}

void by_hand::update()
{
    // New parameters for one node of the executable graph.
    int other_value = 1;
    void *other_arguments[] = {&device, &other_value};
    kernel.kernelParams = other_arguments;
    kernel.gridDim = dim3(1);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, second_node, &kernel));
    CHECK(cudaGraphLaunch(exec, s2));
    CHECK(cudaStreamSynchronize(s2));
    printf("after update %d (320 + 8), host calls %d\n", out, host_calls);
    cudaKernelNodeParams got = {};
    CHECK(cudaGraphKernelNodeGetParams(second_node, &got));
    printf("the graph itself keeps grid %u, argument %d\n", got.gridDim.x,
           *(int *)got.kernelParams[1]);

    // The same topology with other parameters: whole update.
    CHECK(cudaGraphKernelNodeSetParams(kernel_node, &kernel));
    cudaGraphExecUpdateResultInfo info = {};
    CHECK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(cudaGraphLaunch(exec, s1));
    CHECK(cudaStreamSynchronize(s1));
    printf("whole update: result %d (8 + 320), status %d\n", out, (int)info.result);
}

// A clone and a child graph.
void by_hand::nest()
{
    cudaGraph_t clone, parent;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphCreate(&parent, 0));
    cudaGraphNode_t child1, child2;
    CHECK(cudaGraphAddChildGraphNode(&child1, parent, nullptr, 0, clone));
    CHECK(cudaGraphAddChildGraphNode(&child2, parent, &child1, 1, graph));
    cudaGraphExec_t parent_exec;
    CHECK(cudaGraphInstantiate(&parent_exec, parent, 0));
    CHECK(cudaGraphLaunch(parent_exec, s1));
    CHECK(cudaStreamSynchronize(s1));
    printf("children: result %d, host calls %d\n", out, host_calls);
    CHECK(cudaGraphExecDestroy(parent_exec));
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// A capture that is broken by a synchronisation.
static void broken_capture(int *device)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeRelaxed));
    increment<<<1, 1, 0, s1>>>(device, 1);
    cudaError_t status = cudaStreamSynchronize(s1);
    printf("synchronise in a capture: %s\n", cudaGetErrorName(status));
    status = cudaStreamEndCapture(s1, &graph);
    printf("end: %s\n", cudaGetErrorName(status));
    cudaGetLastError();
    increment<<<1, 1, 0, s1>>>(device, 1);
    CHECK(cudaStreamSynchronize(s1));
}

// Memory nodes: allocation inside a graph.
static void memory_nodes(int *c)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    int *temporary;
    CHECK(cudaMallocAsync(&temporary, n * 4, s1));
    CHECK(cudaMemsetAsync(temporary, 0, n * 4, s1));
    increment<<<2, 32, 0, s1>>>(temporary, 3);
    CHECK(cudaMemcpyAsync(c, temporary, 4, cudaMemcpyDefault, s1));
    CHECK(cudaFreeAsync(temporary, s1));
    CHECK(cudaStreamEndCapture(s1, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s1));
    CHECK(cudaStreamSynchronize(s1));
    printf("memory nodes: %d\n", c[0]);
}

int main()
{
    int *a, *b, *c;
    CHECK(cudaMallocManaged(&a, n * 4));
    CHECK(cudaMallocManaged(&b, n * 4));
    CHECK(cudaMallocManaged(&c, n * 4));
    for (int i = 0; i < n; i++)
        a[i] = i, b[i] = 1, c[i] = 0;

    CHECK(cudaStreamCreate(&s1));
    CHECK(cudaStreamCreate(&s2));
    capture(a, b, c);
    by_hand graph;
    graph.build();
    graph.update();
    graph.nest();
    broken_capture(graph.device);
    memory_nodes(c);
    return 0;
}
