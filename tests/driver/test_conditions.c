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
        cmocka_unit_test(handle_of_a_destroyed_graph),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
