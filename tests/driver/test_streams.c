/*
 * test_streams.c: order within and between streams, events and their modelled time, callbacks,
 * a kernel that waits for the host, and the errors of streams and launches.
 */
#include "driver/common.h"

#include <pthread.h>
#include <unistd.h>

static void keeps_order(void **state)
{
    CUstream a, b;
    CUevent done;
    CUdeviceptr data = zeros(1000);
    OK(cu->cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuCtxSynchronize());
    for (int i = 0; i < 20; i++) {
        OK(launch_add(data, 1000, 1, a));
        OK(cu->cuEventRecord(done, a));
        OK(cu->cuStreamWaitEvent(b, done, 0));
        OK(launch_add(data, 1000, 1, b));
        OK(cu->cuEventRecord(done, b));
        OK(cu->cuStreamWaitEvent(a, done, 0));
    }
    OK(cu->cuStreamSynchronize(b));
    OK(cu->cuStreamQuery(b));
    expect_all(data, 1000, 40);
    OK(cu->cuStreamDestroy_v2(a));
    OK(cu->cuStreamDestroy_v2(b));
    OK(cu->cuEventDestroy_v2(done));
    OK(cu->cuMemFree_v2(data));
}

static void legacy_stream_orders(void **state)
{
    CUstream blocking;
    CUdeviceptr data = zeros(1000);
    OK(cu->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (int i = 0; i < 10; i++) {
        OK(cu->cuMemsetD32Async(data, (unsigned)i, 1000, blocking));
        OK(launch_add(data, 1000, 100, NULL));
        OK(launch_add(data, 1000, 1000, blocking));
    }
    OK(cu->cuStreamSynchronize(NULL));
    expect_all(data, 1000, 1109);
    OK(cu->cuStreamDestroy_v2(blocking));
    OK(cu->cuMemFree_v2(data));
}

static void kernel_waits_for_host(void **state)
{
    int *flag;
    CUstream waiting, other;
    CUdeviceptr data = zeros(100), address;
    OK(cu->cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu->cuMemHostGetDevicePointer_v2(&address, flag, 0));
    *flag = 0;
    OK(cu->cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    void *params[] = {&address};
    OK(cu->cuLaunchKernel(function("wait"), 1, 1, 1, 1, 1, 1, 0, waiting, params, NULL));
    FAILS(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(waiting));
    /* a copy beside it does not wait for it */
    OK(cu->cuMemsetD32Async(data, 5, 100, other));
    OK(cu->cuStreamSynchronize(other));
    FAILS(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(waiting));
    *(volatile int *)flag = 1;
    OK(cu->cuStreamSynchronize(waiting));
    OK(cu->cuStreamQuery(waiting));
    OK(cu->cuMemFreeHost(flag));
    OK(cu->cuStreamDestroy_v2(waiting));
    OK(cu->cuStreamDestroy_v2(other));
    OK(cu->cuMemFree_v2(data));
}

static void pageable_source_is_read_at_once(void **state)
{
    int *flag, source[64];
    CUstream stream;
    CUdeviceptr data = zeros(64), address;
    for (int i = 0; i < 64; i++)
        source[i] = 11;
    OK(cu->cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu->cuMemHostGetDevicePointer_v2(&address, flag, 0));
    *flag = 0;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *params[] = {&address};
    OK(cu->cuLaunchKernel(function("wait"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cu->cuMemcpyHtoDAsync_v2(data, source, sizeof source, stream));
    memset(source, 0, sizeof source);
    *(volatile int *)flag = 1;
    OK(cu->cuStreamSynchronize(stream));
    expect_all(data, 64, 11);
    OK(cu->cuMemFreeHost(flag));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(data));
}

static void note(void *data)
{
    *(int *)data += 1;
}

static void note_status(CUstream stream, CUresult status, void *data)
{
    if (status == CUDA_SUCCESS)
        *(int *)data += 10;
}

static void callbacks_run_in_order(void **state)
{
    int count = 0;
    CUstream stream;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuLaunchHostFunc(stream, note, &count));
    OK(cu->cuStreamAddCallback(stream, note_status, &count, 0));
    OK(cu->cuLaunchHostFunc(stream, note, &count));
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(count, 12);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuLaunchHostFunc(stream, NULL, NULL));
    OK(cu->cuStreamDestroy_v2(stream));
}

static void events_measure(void **state)
{
    CUevent begin, end, silent;
    float milliseconds = -1;
    CUdeviceptr data = zeros(1 << 16);
    OK(cu->cuEventCreate(&begin, CU_EVENT_DEFAULT));
    OK(cu->cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cu->cuEventCreate(&silent, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventQuery(begin));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuEventElapsedTime_v2(&milliseconds, begin, end));
    OK(cu->cuEventRecord(begin, NULL));
    OK(launch_add(data, 1 << 16, 1, NULL));
    OK(cu->cuEventRecord(end, NULL));
    OK(cu->cuEventRecord(silent, NULL));
    OK(cu->cuEventSynchronize(end));
    OK(cu->cuEventElapsedTime_v2(&milliseconds, begin, end));
    assert_true(milliseconds > 0.0005f && milliseconds < 1000);
    OK(cu->cuEventSynchronize(silent));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuEventElapsedTime_v2(&milliseconds, begin, silent));
    OK(cu->cuEventDestroy_v2(begin));
    OK(cu->cuEventDestroy_v2(end));
    OK(cu->cuEventDestroy_v2(silent));
    if (cu->simulated) /* a real driver does not look */
        FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuEventDestroy_v2(end));
    OK(cu->cuMemFree_v2(data));
}

static void waits_for_values(void **state)
{
    CUstream a, b;
    CUdeviceptr data = zeros(4);
    OK(cu->cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuStreamWaitValue32_v2(a, data, 3, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu->cuMemsetD32Async(data + 4, 8, 1, a));
    FAILS(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(a));
    OK(cu->cuStreamWriteValue32_v2(b, data, 4, 0));
    OK(cu->cuStreamSynchronize(a));
    int host[2];
    OK(cu->cuMemcpyDtoH_v2(host, data, 8));
    assert_int_equal(host[0], 4);
    assert_int_equal(host[1], 8);
    OK(cu->cuStreamDestroy_v2(a));
    OK(cu->cuStreamDestroy_v2(b));
    OK(cu->cuMemFree_v2(data));
}

/* On a fresh device, so that one thread at most is idle: it may be woken for the wait and for the
 * write that ends it before it looks, and must not leave the write undone. */
static void a_wait_does_not_hold_back_its_write(void **state)
{
    CUstream a, b;
    CUdeviceptr data = zeros(1);
    OK(cu->cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    usleep(50000);
    OK(cu->cuStreamWaitValue32_v2(a, data, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu->cuStreamWriteValue32_v2(b, data, 1, 0));
    OK(cu->cuStreamSynchronize(a));
    OK(cu->cuStreamDestroy_v2(a));
    OK(cu->cuStreamDestroy_v2(b));
    OK(cu->cuMemFree_v2(data));
}

static void wrong_launches(void **state)
{
    CUfunction add = function("add"), shared = function("shared"), bounded = function("bounded");
    CUdeviceptr data = zeros(4);
    int n = 0, value = 0, most = 0;
    void *params[] = {&data, &n, &value};
#define LAUNCH(f, gx, gy, gz, bx, by, bz, bytes)                                                   \
    cu->cuLaunchKernel(f, gx, gy, gz, bx, by, bz, bytes, NULL, params, NULL)
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 0, 1, 1, 1, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 1, 1, 1, 0, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 1, 1, 1025, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 1, 1, 32, 33, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 1, 1, 1, 1, 65, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 65536, 1, 1, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 0x80000000u, 1, 1, 1, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(add, 1, 1, 1, 32, 1, 1, 49153));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(bounded, 1, 1, 1, 65, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_HANDLE, LAUNCH(NULL, 1, 1, 1, 1, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, LAUNCH(shared, 1, 1, 1, 1, 1, 1, 49152 - 1020));
    OK(LAUNCH(shared, 1, 1, 1, 1, 1, 1, 49152 - 1024));
    OK(cu->cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    OK(LAUNCH(shared, 1, 1, 1, 1, 1, 1, 60000));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemcpyDtoH_v2(&value, data, 4));
    assert_int_equal(value, 60000);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    OK(cu->cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded));
    assert_int_equal(most, 64);
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cu->cuLaunchCooperativeKernel(add, 1 << 20, 1, 1, 128, 1, 1, 0, NULL, params));
    OK(cu->cuLaunchCooperativeKernel(add, 4, 1, 1, 128, 1, 1, 0, NULL, params));
    size_t size = 16;
    struct {
        CUdeviceptr data;
        int n, value;
    } packed = {data, 4, 3};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    OK(cu->cuMemsetD32_v2(data, 0, 4));
    OK(cu->cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    expect_all(data, 4, 3);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, params, extra));
    OK(cu->cuMemFree_v2(data));
}

/* 4 GiB, which 32 bits take for nothing. A real driver does not load it at all. */
static void vast_shared_memory(void **state)
{
    static const char ptx[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry vast()\n{\n"
        " .shared .align 4 .b8 much[4294967296]; .reg .b32 %r<2>;\n"
        " mov.u32 %r1, much; st.shared.u32 [%r1], %r1; ret;\n}\n";
    CUmodule loaded;
    CUfunction vast;
    if (!cu->simulated)
        return;
    OK(cu->cuModuleLoadData(&loaded, ptx));
    OK(cu->cuModuleGetFunction(&vast, loaded, "vast"));
    FAILS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          cu->cuLaunchKernel(vast, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu->cuModuleUnload(loaded));
}

static void *other_thread(void *data)
{
    OK(cu->cuCtxSetCurrent(context));
    for (int i = 0; i < 50; i++)
        OK(launch_add(*(CUdeviceptr *)data, 512, 1, CU_STREAM_PER_THREAD));
    OK(cu->cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void threads_share_a_context(void **state)
{
    pthread_t threads[4];
    CUdeviceptr data[4];
    for (int i = 0; i < 4; i++) {
        data[i] = zeros(512);
        pthread_create(&threads[i], NULL, other_thread, &data[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        expect_all(data[i], 512, 50);
        OK(cu->cuMemFree_v2(data[i]));
    }
}

/* Memory is freed, and waited for, in a stream of the program's where no context is current. */
static void streams_need_no_current_context(void **state)
{
    CUstream stream;
    CUdeviceptr data;
    CUcontext popped;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAllocAsync(&data, 256, stream));
    OK(cu->cuCtxGetCurrent(&popped));
    OK(cu->cuCtxSetCurrent(NULL));
    OK(cu->cuMemFreeAsync(data, stream));
    OK(cu->cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cu->cuStreamSynchronize(NULL));
    OK(cu->cuCtxSetCurrent(popped));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeAsync(data, stream));
    OK(cu->cuStreamDestroy_v2(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_need_no_current_context),
        cmocka_unit_test(a_wait_does_not_hold_back_its_write),
        cmocka_unit_test(keeps_order),
        cmocka_unit_test(legacy_stream_orders),
        cmocka_unit_test(kernel_waits_for_host),
        cmocka_unit_test(pageable_source_is_read_at_once),
        cmocka_unit_test(callbacks_run_in_order),
        cmocka_unit_test(events_measure),
        cmocka_unit_test(waits_for_values),
        cmocka_unit_test(wrong_launches),
        cmocka_unit_test(vast_shared_memory),
        cmocka_unit_test(threads_share_a_context),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
