/*
 * test_conditions.c: conditional nodes of graphs used wrongly: handles that are not alive, graphs
 * that cannot be copied, bodies with nodes they may not have. tests/programs/graph_conditions.cu
 * has what they do.
 */
#include "driver/common.h"

static const char set_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n{\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %rd1, [handle]; ld.param.u32 %r1, [value];\n"
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r1;\n"
    " call.uni cudaGraphSetConditional, (a, b); }\n ret;\n}\n";

static CUgraph graph;
static CUgraphNode node;

static CUresult add(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned size,
                    CUgraph **bodies)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    CUresult status = cu->cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params);
    *bodies = params.conditional.phGraph_out;
    return status;
}

static void nothing(void *data)
{
}

static void graphs_that_cannot_be_made(void **state)
{
    CUgraphConditionalHandle handle;
    CUgraph *bodies, clone, other;
    CUgraphNode inside;
    CUgraphExec exec;
    CUDA_HOST_NODE_PARAMS host = {nothing, NULL};
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphCreate(&other, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphConditionalHandleCreate(NULL, graph, context, 0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuGraphConditionalHandleCreate(&handle, (CUgraph)&handle, context, 0, 0));
    OK(cu->cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                          CU_GRAPH_COND_ASSIGN_DEFAULT));
    FAILS(CUDA_ERROR_INVALID_VALUE, add(0, CU_GRAPH_COND_TYPE_IF, 1, &bodies));
    FAILS(CUDA_ERROR_INVALID_VALUE, add(handle + 16, CU_GRAPH_COND_TYPE_IF, 1, &bodies));
    FAILS(CUDA_ERROR_INVALID_VALUE, add(handle, (CUgraphConditionalNodeType)9, 1, &bodies));
    FAILS(CUDA_ERROR_INVALID_VALUE, add(handle, CU_GRAPH_COND_TYPE_SWITCH, 0, &bodies));
    OK(add(handle, CU_GRAPH_COND_TYPE_SWITCH, 2, &bodies));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphDestroy(bodies[1]));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cu->cuGraphClone(&clone, graph));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cu->cuGraphAddChildGraphNode(&inside, other, NULL, 0, graph));
    OK(cu->cuGraphAddHostNode(&inside, bodies[1], NULL, 0, &host));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphDestroyNode(inside));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphDestroy(graph)); /* the executable graph has what it needs */
    OK(cu->cuGraphLaunch(exec, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(other));
}

static void count(void *data)
{
    (*(int *)data)++;
}

/* What bodies keep alive goes with the node that has them. */
static void bodies_release_what_they_keep(void **state)
{
    CUgraphConditionalHandle handle;
    CUgraph *bodies;
    CUuserObject user;
    int released = 0;
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    OK(add(handle, CU_GRAPH_COND_TYPE_SWITCH, 2, &bodies));
    for (int i = 0; i < 2; i++) {
        OK(cu->cuUserObjectCreate(&user, &released, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        OK(cu->cuGraphRetainUserObject(bodies[i], user, 1, CU_GRAPH_USER_OBJECT_MOVE));
    }
    assert_int_equal(released, 0);
    OK(cu->cuGraphDestroyNode(node));
    assert_int_equal(released, 2);
    OK(cu->cuGraphDestroy(graph));
}

/* A switch over two bodies, each of which sets its own byte. */
static CUgraph choice(unsigned initial, CUgraphConditionalNodeType type, CUdeviceptr bytes)
{
    CUgraphConditionalHandle handle;
    CUgraph *bodies;
    CUgraphNode fill;
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphConditionalHandleCreate(&handle, graph, context, initial,
                                          CU_GRAPH_COND_ASSIGN_DEFAULT));
    OK(add(handle, type, 2, &bodies));
    for (unsigned i = 0; i < 2; i++) {
        CUDA_MEMSET_NODE_PARAMS params = {
            .dst = bytes + i, .value = 1, .elementSize = 1, .width = 1, .height = 1};
        OK(cu->cuGraphAddMemsetNode(&fill, bodies[i], NULL, 0, &params, context));
    }
    return graph;
}

/* An update brings the new handle's default along; a node of another type cannot be taken over. */
static void updates_bring_the_new_default(void **state)
{
    CUdeviceptr bytes;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    unsigned char now[2];
    OK(cu->cuMemAlloc_v2(&bytes, 2));
    CUgraph graphs[] = {choice(0, CU_GRAPH_COND_TYPE_SWITCH, bytes),
                        choice(1, CU_GRAPH_COND_TYPE_SWITCH, bytes),
                        choice(0, CU_GRAPH_COND_TYPE_IF, bytes)};
    OK(cu->cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
    for (int i = 0; i < 2; i++) {
        OK(cu->cuMemsetD8_v2(bytes, 0, 2));
        OK(cu->cuGraphExecUpdate_v2(exec, graphs[i], &info));
        OK(cu->cuGraphLaunch(exec, NULL));
        OK(cu->cuMemcpyDtoH_v2(now, bytes, 2));
        assert_int_equal(now[i], 1);
        assert_int_equal(now[1 - i], 0);
    }
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(exec, graphs[2], &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    OK(cu->cuGraphExecDestroy(exec));
    for (int i = 0; i < 3; i++)
        OK(cu->cuGraphDestroy(graphs[i]));
    OK(cu->cuMemFree_v2(bytes));
}

/* The last test: the kernel's fault stays. */
static void handle_of_a_destroyed_graph(void **state)
{
    CUgraphConditionalHandle handle;
    CUmodule setter;
    CUfunction set;
    unsigned value = 1;
    void *params[] = {&handle, &value};
    OK(cu->cuModuleLoadData(&setter, set_ptx));
    OK(cu->cuModuleGetFunction(&set, setter, "set"));
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphConditionalHandleCreate(&handle, graph, context, 1, 0));
    OK(cu->cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_that_cannot_be_made),
        cmocka_unit_test(bodies_release_what_they_keep),
        cmocka_unit_test(updates_bring_the_new_default),
        cmocka_unit_test(handle_of_a_destroyed_graph),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
