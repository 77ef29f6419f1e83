// graph_conditions.cu: conditional nodes of graphs: IF, IF with ELSE, WHILE, SWITCH, one in
// another, a body that a stream captures, and what is refused.
// cuda: 12.8
// flags: -rdc=true

#include <cstdio>

__global__ void set(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

__global__ void add(int *sum, int value)
{
    *sum += value;
}

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
}

__global__ void fill(int *left, int value)
{
    *left = value;
}

static cudaGraphNode_t kernel(cudaGraph_t graph, const cudaGraphNode_t *before,
                              const void *function, void **arguments)
{
    cudaKernelNodeParams params = {};
    params.func = (void *)function;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &params);
    if (error != cudaSuccess)
        printf("kernel node: %s\n", cudaGetErrorName(error));
    return node;
}

static cudaGraphNode_t add_node(cudaGraph_t graph, const cudaGraphNode_t *before, int *sum,
                                int value)
{
    void *arguments[] = {&sum, &value};
    return kernel(graph, before, (void *)add, arguments);
}

// The bodies of a new conditional node.
static cudaGraph_t *conditional(cudaGraph_t graph, const cudaGraphNode_t *before,
                                cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size,
                                cudaGraphNode_t *node, cudaError_t *error)
{
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
#if CUDART_VERSION >= 13000
    *error = cudaGraphAddNode(node, graph, before, NULL, before ? 1 : 0, &params);
#else
    *error = cudaGraphAddNode(node, graph, before, before ? 1 : 0, &params);
#endif
    return *error == cudaSuccess ? params.conditional.phGraph_out : NULL;
}

static void launch(const char *name, cudaGraph_t graph, int *sum, int times)
{
    cudaGraphExec_t executable;
    *sum = 0;
    cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < times && error == cudaSuccess; i++)
        error = cudaGraphLaunch(executable, 0);
    cudaError_t end = cudaDeviceSynchronize();
    printf("%s: %s, %s, %d\n", name, cudaGetErrorName(error), cudaGetErrorName(end), *sum);
    if (error == cudaSuccess)
        cudaGraphExecDestroy(executable);
}

static void branches(int *sum)
{
    cudaGraphNode_t node;
    cudaError_t error;
    for (unsigned value = 0; value < 4; value++) {
        cudaGraph_t graph;
        cudaGraphConditionalHandle one, two, three;
        cudaGraphCreate(&graph, 0);
        cudaGraphConditionalHandleCreate(&one, graph, value, cudaGraphCondAssignDefault);
        cudaGraphConditionalHandleCreate(&two, graph, value, cudaGraphCondAssignDefault);
        cudaGraphConditionalHandleCreate(&three, graph, value, cudaGraphCondAssignDefault);
        cudaGraph_t *body = conditional(graph, NULL, one, cudaGraphCondTypeIf, 1, &node, &error);
        cudaGraphNode_t first = node;
        add_node(body[0], NULL, sum, 1);
        body = conditional(graph, &first, two, cudaGraphCondTypeIf, 2, &node, &error);
        cudaGraphNode_t second = node;
        add_node(body[0], NULL, sum, 10);
        add_node(body[1], NULL, sum, 100);
        body = conditional(graph, &second, three, cudaGraphCondTypeSwitch, 3, &node, &error);
        for (int i = 0; i < 3; i++)
            add_node(body[i], NULL, sum, 1000 * (i + 1));
        char name[32];
        snprintf(name, sizeof name, "value %u", value);
        launch(name, graph, sum, 2);
        cudaGraphDestroy(graph);
    }
}

// A loop in a loop: the outer body sets the inner counter anew.
static void loops(int *sum, int *left)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error;
    cudaGraphConditionalHandle outer, inner;
    int *outer_left = left, *inner_left = left + 1, three = 3, two = 2, yes = 1;
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&outer, graph, 1, cudaGraphCondAssignDefault);
    void *start[] = {&outer_left, &three};
    cudaGraphNode_t begin = kernel(graph, NULL, (void *)fill, start);
    cudaGraph_t *body = conditional(graph, &begin, outer, cudaGraphCondTypeWhile, 1, &node, &error);
    cudaGraph_t outside = body[0];
    cudaGraphConditionalHandleCreate(&inner, outside, 1, cudaGraphCondAssignDefault);
    void *again[] = {&inner_left, &two};
    cudaGraphNode_t reset = kernel(outside, NULL, (void *)fill, again);
    void *open[] = {&inner, &yes};
    cudaGraphNode_t opened = kernel(outside, &reset, (void *)set, open);
    cudaGraphNode_t loop;
    body = conditional(outside, &opened, inner, cudaGraphCondTypeWhile, 1, &loop, &error);
    cudaGraphNode_t added = add_node(body[0], NULL, sum, 1);
    void *inner_arguments[] = {&inner, &inner_left};
    kernel(body[0], &added, (void *)count_down, inner_arguments);
    void *outer_arguments[] = {&outer, &outer_left};
    kernel(outside, &loop, (void *)count_down, outer_arguments);
    add_node(graph, &node, sum, 100);
    launch("loops", graph, sum, 2);
    cudaGraphNodeType type;
    cudaGraphNodeGetType(node, &type);
    printf("type: %d\n", type);
    cudaGraphDestroy(graph);
}

static void captured(int *sum, bool wants_graph)
{
    cudaGraph_t graph, same;
    cudaGraphNode_t node;
    cudaError_t error;
    cudaStream_t stream;
    cudaGraphConditionalHandle handle;
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&handle, graph, 0, 0);
    unsigned value = 5;
    void *arguments[] = {&handle, &value};
    cudaGraphNode_t setter = kernel(graph, NULL, (void *)set, arguments);
    cudaGraph_t *body = conditional(graph, &setter, handle, cudaGraphCondTypeIf, 1, &node, &error);
    cudaStreamBeginCaptureToGraph(stream, body[0], NULL, NULL, 0, cudaStreamCaptureModeRelaxed);
    add<<<1, 1, 0, stream>>>(sum, 7);
    add<<<1, 1, 0, stream>>>(sum, 70);
    printf("capture: %s\n", cudaGetErrorName(cudaStreamEndCapture(stream, wants_graph ? &same : NULL)));
    launch("captured", graph, sum, 3);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

static void refusals()
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error;
    cudaGraphConditionalHandle handle, other;
    cudaGraphCreate(&graph, 0);
    printf("flags: %s\n", cudaGetErrorName(cudaGraphConditionalHandleCreate(&handle, graph, 1, 6)));
    cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
    conditional(graph, NULL, handle, cudaGraphCondTypeWhile, 2, &node, &error);
    printf("a loop with two bodies: %s\n", cudaGetErrorName(error));
    conditional(graph, NULL, handle, cudaGraphCondTypeIf, 3, &node, &error);
    printf("if with three: %s\n", cudaGetErrorName(error));
    conditional(graph, NULL, handle, cudaGraphCondTypeIf, 1, &node, &error);
    printf("if: %s\n", cudaGetErrorName(error));
    conditional(graph, NULL, handle, cudaGraphCondTypeIf, 1, &node, &error);
    printf("the same handle: %s\n", cudaGetErrorName(error));
    cudaGraphConditionalHandleCreate(&other, graph, 1, 0);
    cudaGraphExec_t executable;
    cudaGraphInstantiateParams params = {};
    error = cudaGraphInstantiateWithParams(&executable, graph, &params);
    printf("a handle without a node: %s, %d\n", cudaGetErrorName(error), params.result_out);
    cudaGraphDestroy(graph);
}

int main()
{
    int *sum;
    cudaMallocManaged(&sum, 64);
    branches(sum);
    loops(sum, sum + 1);
    captured(sum, true);
    captured(sum, false);
    refusals();
    return 0;
}
