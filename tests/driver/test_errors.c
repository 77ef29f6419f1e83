/*
 * test_errors.c: the error that a faulting kernel leaves, and how a context gets rid of it; invalid
 * handles; calls without a context.
 */
#include "driver/common.h"

static void handles_that_are_none(void **state)
{
    if (!cu->simulated)
        skip(); /* a real driver may crash */
    int rubbish[64] = {0};
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuStreamSynchronize((CUstream)rubbish));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuEventRecord((CUevent)rubbish, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleUnload((CUmodule)rubbish));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cu->cuCtxSetCurrent((CUcontext)rubbish));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphDestroy((CUgraph)rubbish));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGraphLaunch((CUgraphExec)rubbish, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cu->cuLaunchKernel((CUfunction)rubbish, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void contexts_stack(void **state)
{
    CUcontext own, top;
    CUdevice device;
    CUdeviceptr data;
    OK(cu->cuCtxCreate_v4(&own, NULL, 0, 0));
    OK(cu->cuCtxGetCurrent(&top));
    assert_ptr_equal(top, own);
    OK(cu->cuMemAlloc_v2(&data, 64));
    OK(cu->cuCtxPopCurrent_v2(&top));
    assert_ptr_equal(top, own);
    OK(cu->cuCtxGetCurrent(&top));
    assert_ptr_equal(top, context);
    OK(cu->cuCtxPushCurrent_v2(own));
    OK(cu->cuCtxGetDevice(&device));
    OK(cu->cuCtxDestroy_v2(own));
    OK(cu->cuCtxGetCurrent(&top));
    assert_ptr_equal(top, context);
    OK(cu->cuCtxSetCurrent(NULL));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cu->cuMemAlloc_v2(&data, 64));
    OK(cu->cuCtxSetCurrent(context));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cu->cuDeviceGet(&device, 99));
    size_t limit;
    OK(cu->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cu->cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    assert_true(limit >= 4096);
}

static void faults_stick(void **state)
{
    CUdeviceptr data = zeros(4);
    CUstream stream;
    int host[4];
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuLaunchKernel(function("bad"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuMemAlloc_v2(&data, 16));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuMemcpyDtoH_v2(host, data, 16));
    OK(cu->cuDevicePrimaryCtxReset_v2(0));
    if (!cu->simulated)
        return; /* a real device is lost to the process; here a reset restores it */
    OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuModuleLoadData(&module, kernels_ptx));
    data = zeros(4);
    OK(launch_add(data, 4, 6, NULL));
    expect_all(data, 4, 6);
    OK(cu->cuMemFree_v2(data));
}

static void a_fault_reaches_every_context(void **state)
{
    if (!cu->simulated)
        skip();
    CUcontext own;
    CUmodule loaded;
    CUfunction bad;
    OK(cu->cuCtxCreate_v4(&own, NULL, 0, 0));
    OK(cu->cuModuleLoadData(&loaded, kernels_ptx));
    OK(cu->cuModuleGetFunction(&bad, loaded, "bad"));
    OK(cu->cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
    OK(cu->cuCtxDestroy_v2(own));
    OK(cu->cuCtxSetCurrent(context));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize()); /* the device's, not one context's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_that_are_none),
        cmocka_unit_test(contexts_stack),
        cmocka_unit_test(faults_stick),
        cmocka_unit_test(a_fault_reaches_every_context),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
