/*
 * test_graphs.c: graphs built by hand and by capture, changed, cloned, launched; and what capture
 * refuses.
 */
#include "driver/common.h"

#include <unistd.h>

static CUDA_KERNEL_NODE_PARAMS add_params(void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function("add"),
                                     .gridDimX = 8,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 128,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

static void count_up(void *data)
{
    ++*(int *)data;
}

static void built_by_hand(void **state)
{
    CUdeviceptr data = zeros(1000);
    int n = 1000, value = 5, calls = 0, host[1000];
    void *params[] = {&data, &n, &value};
    CUgraph graph, clone;
    CUgraphNode fill, add, copy, call, found, list[8];
    CUgraphExec exec;
    CUgraphNodeType type;
    size_t count = 8;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = data, .value = 2, .elementSize = 4, .width = 1000, .height = 1};
    CUDA_KERNEL_NODE_PARAMS kernel = add_params(params), back;
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = data,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = host,
                         .WidthInBytes = sizeof host,
                         .Height = 1,
                         .Depth = 1};
    CUDA_HOST_NODE_PARAMS function_node = {count_up, &calls};
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, context));
    OK(cu->cuGraphAddKernelNode_v2(&add, graph, &fill, 1, &kernel));
    OK(cu->cuGraphAddMemcpyNode(&copy, graph, &add, 1, &out, context));
    OK(cu->cuGraphAddHostNode(&call, graph, NULL, 0, &function_node));
    OK(cu->cuGraphAddDependencies_v2(graph, &copy, &call, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphAddDependencies_v2(graph, &copy, &call, NULL, 1));
    OK(cu->cuGraphGetNodes(graph, list, &count));
    assert_int_equal(count, 4);
    OK(cu->cuGraphGetRootNodes(graph, NULL, &count));
    assert_int_equal(count, 1);
    OK(cu->cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 3);
    OK(cu->cuGraphNodeGetType(copy, &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    OK(cu->cuGraphKernelNodeGetParams_v2(add, &back));
    assert_int_equal(*(int *)back.kernelParams[2], 5);
    assert_int_equal(back.blockDimX, 128);
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    value = 100; /* the node has its own copy */
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(host[999], 7);
    assert_int_equal(calls, 2);
    OK(cu->cuGraphExecKernelNodeSetParams_v2(exec, add, &kernel));
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(host[0], 102);
    OK(cu->cuGraphNodeSetEnabled(exec, add, 0));
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(host[0], 2);
    OK(cu->cuGraphClone(&clone, graph));
    OK(cu->cuGraphNodeFindInClone(&found, add, clone));
    OK(cu->cuGraphDestroyNode(found));
    OK(cu->cuGraphGetNodes(clone, NULL, &count));
    assert_int_equal(count, 3);
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(clone));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(data));
}

/* Two streams, forked and joined by events; then updated from a second capture. */
static CUgraph capture_fork(CUdeviceptr a, CUdeviceptr b, int value)
{
    CUstream first, second;
    CUevent fork, join;
    CUgraph graph;
    CUstreamCaptureStatus status;
    OK(cu->cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch_add(a, 1000, value, first));
    OK(cu->cuEventRecord(fork, first));
    OK(cu->cuStreamWaitEvent(second, fork, 0));
    OK(cu->cuStreamIsCapturing(second, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(launch_add(b, 1000, value, second));
    OK(launch_add(a, 1000, value, first));
    OK(cu->cuEventRecord(join, second));
    OK(cu->cuStreamWaitEvent(first, join, 0));
    OK(cu->cuMemcpyDtoDAsync_v2(a, b, 4, first));
    OK(cu->cuStreamEndCapture(first, &graph));
    OK(cu->cuStreamDestroy_v2(first));
    OK(cu->cuStreamDestroy_v2(second));
    OK(cu->cuEventDestroy_v2(fork));
    OK(cu->cuEventDestroy_v2(join));
    return graph;
}

static void captured(void **state)
{
    CUdeviceptr a = zeros(1000), b = zeros(1000);
    CUgraph graph = capture_fork(a, b, 1), other = capture_fork(a, b, 10);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    size_t nodes, edges;
    int host[2];
    OK(cu->cuGraphGetNodes(graph, NULL, &nodes));
    OK(cu->cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    assert_int_equal(nodes, 4);
    assert_int_equal(edges, 4);
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuGraphExecUpdate_v2(exec, other, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemcpyDtoH_v2(host, a, 8));
    assert_int_equal(host[0], 11);
    assert_int_equal(host[1], 22);
    CUgraphNode extra;
    OK(cu->cuGraphAddEmptyNode(&extra, other, NULL, 0));
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(exec, other, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cu->cuGraphDebugDotPrint(graph, "/tmp/lockstep-test-graph.dot", 0));
    unlink("/tmp/lockstep-test-graph.dot");
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(other));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
}

static void child_and_memory_nodes(void **state)
{
    CUgraph graph, inner;
    CUgraphNode alloc, fill, child, release;
    CUgraphExec exec;
    CUdeviceptr data = zeros(256);
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 1024};
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphCreate(&inner, 0));
    OK(cu->cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory));
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = memory.dptr, .value = 9, .elementSize = 4, .width = 256, .height = 1};
    OK(cu->cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &set, context));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = memory.dptr,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = data,
                         .WidthInBytes = 1024,
                         .Height = 1,
                         .Depth = 1};
    CUgraphNode copy;
    OK(cu->cuGraphAddMemcpyNode(&copy, inner, NULL, 0, &out, context));
    OK(cu->cuGraphAddChildGraphNode(&child, graph, &fill, 1, inner));
    OK(cu->cuGraphAddMemFreeNode(&release, graph, &child, 1, memory.dptr));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(inner));
    for (int i = 0; i < 3; i++)
        OK(cu->cuGraphLaunch(exec, NULL));
    expect_all(data, 256, 9);
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuMemFree_v2(data));
}

static cuuint64_t graph_memory(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes;
    OK(cu->cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

/* What graphs have freed stays theirs until it is trimmed, and the next graph takes it. */
static void graph_memory_is_kept_until_trimmed(void **state)
{
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 1024};
    OK(cu->cuDeviceGraphMemTrim(0));
    assert_int_equal(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    cuuint64_t used[2];
    for (int i = 0; i < 2; i++) {
        CUgraph graph;
        CUgraphNode alloc;
        CUgraphExec exec;
        OK(cu->cuGraphCreate(&graph, 0));
        OK(cu->cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory));
        OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cu->cuGraphDestroy(graph));
        OK(cu->cuGraphLaunch(exec, NULL));
        OK(cu->cuCtxSynchronize());
        OK(cu->cuGraphExecDestroy(exec));
        OK(cu->cuMemsetD8_v2(memory.dptr, 7, 1024)); /* it outlives the graph */
        OK(cu->cuMemFree_v2(memory.dptr));
        used[i] = graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    }
    assert_true(used[0] >= 1024);
    assert_int_equal(used[1], used[0]);
    assert_int_equal(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), used[0]);
    OK(cu->cuDeviceGraphMemTrim(0));
    assert_int_equal(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    assert_int_equal(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    assert_true(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= used[0]);
}

static void capture_refuses(void **state)
{
    CUstream stream, other, blocking;
    CUgraph graph;
    CUevent event;
    CUdeviceptr data = zeros(128), more;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cu->cuStreamEndCapture(stream, &graph));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cu->cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    /* waiting for what is captured */
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cu->cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
    assert_null(graph);
    /* an unsafe call */
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cu->cuMemAlloc_v2(&more, 16));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
    /* copies without a stream are not */
    int four = 4;
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuMemcpyHtoD_v2(data, &four, 4));
    OK(cu->cuEventRecord(event, stream));
    OK(cu->cuStreamEndCapture(stream, &graph));
    OK(cu->cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuEventQuery(event));
    /* work that is not joined */
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuEventRecord(event, stream));
    OK(cu->cuStreamWaitEvent(other, event, 0));
    OK(launch_add(data, 128, 1, other));
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cu->cuEventQuery(event));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuEventRecord(event, stream));
    OK(cu->cuStreamWaitEvent(other, event, 0));
    OK(launch_add(data, 128, 1, other));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cu->cuStreamEndCapture(stream, &graph));
    /* the legacy stream would wait for the blocking one */
    OK(cu->cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, launch_add(data, 128, 1, NULL));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(blocking, &graph));
    /* outside work */
    CUevent outside;
    OK(cu->cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventRecord(outside, other));
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cu->cuStreamWaitEvent(stream, outside, 0));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuEventDestroy_v2(outside));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuStreamDestroy_v2(other));
    OK(cu->cuStreamDestroy_v2(blocking));
    OK(cu->cuMemFree_v2(data));
}

static void user_objects_live_with_graphs(void **state)
{
    int destroyed = 0;
    CUuserObject object;
    CUgraph graph;
    OK(cu->cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    assert_int_equal(destroyed, 0);
    OK(cu->cuGraphDestroy(graph));
    for (int i = 0; i < 1000 && !*(volatile int *)&destroyed; i++)
        usleep(1000);
    assert_int_equal(destroyed, 1);
}

static void wait_for(void *flag)
{
    for (int i = 0; i < 5000 && !*(volatile int *)flag; i++)
        usleep(1000);
}

static CUgraph graph_that_waits(int *flag, int *destroyed)
{
    CUgraph graph;
    CUgraphNode node;
    CUuserObject object;
    CUDA_HOST_NODE_PARAMS host = {.fn = wait_for, .userData = flag};
    OK(cu->cuUserObjectCreate(&object, destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    OK(cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

/* An executable graph has what it was made of, or was updated to: the objects of that, until it is
 * destroyed and no longer runs. */
static void user_objects_of_executable_graphs(void **state)
{
    int flag = 0, first = 0, second = 0;
    CUgraph graph = graph_that_waits(&flag, &first), other = graph_that_waits(&flag, &second);
    CUgraphExec exec;
    CUstream stream;
    CUgraphExecUpdateResultInfo info;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphDestroy(graph));
    assert_int_equal(first, 0);
    OK(cu->cuGraphExecUpdate_v2(exec, other, &info));
    assert_int_equal(first, 1);
    OK(cu->cuGraphDestroy(other));
    assert_int_equal(second, 0);
    OK(cu->cuGraphLaunch(exec, stream));
    OK(cu->cuGraphExecDestroy(exec));
    assert_int_equal(second, 0);
    *(volatile int *)&flag = 1;
    OK(cu->cuStreamSynchronize(stream));
    for (int i = 0; i < 5000 && !*(volatile int *)&second; i++)
        usleep(1000);
    assert_int_equal(second, 1);
    OK(cu->cuStreamDestroy_v2(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_by_hand),
        cmocka_unit_test(captured),
        cmocka_unit_test(child_and_memory_nodes),
        cmocka_unit_test(graph_memory_is_kept_until_trimmed),
        cmocka_unit_test(capture_refuses),
        cmocka_unit_test(user_objects_live_with_graphs),
        cmocka_unit_test(user_objects_of_executable_graphs),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
