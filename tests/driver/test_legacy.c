/*
 * test_legacy.c: calls of earlier CUDA versions that libcuda still exports, and those that take a
 * batch: launches as before CUDA 4, sizes of 32 bits, batches of copies and of stream values.
 */
#include "driver/common.h"

#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

static void launches_of_before(void **state)
{
    CUfunction add = function("add");
    CUdeviceptr data = zeros(256);
    int n = 256;
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuLaunch(add)); /* no block shape */
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuFuncSetBlockShape(add, 0, 1, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuFuncSetBlockShape(add, 1024, 2, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuParamSetSize(add, 1 << 20));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuParamSeti(add, -4, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuParamSeti(add, 4094, 1));
    OK(cu->cuFuncSetBlockShape(add, 64, 1, 1));
    OK(cu->cuFuncSetSharedSize(add, 128));
    OK(cu->cuParamSetv(add, 0, &data, sizeof data));
    OK(cu->cuParamSeti(add, 8, (unsigned)n));
    OK(cu->cuParamSeti(add, 12, 5));
    OK(cu->cuParamSetSize(add, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuLaunchGrid(add, 0, 1));
    OK(cu->cuLaunchGrid(add, 4, 1));
    OK(cu->cuParamSeti(add, 12, 2));
    OK(cu->cuLaunchGridAsync(add, 4, 1, NULL));
    OK(cu->cuCtxSynchronize());
    expect_all(data, 256, 7);
    OK(cu->cuLaunch(add)); /* one block: the first 64 */
    int host[256];
    OK(cu->cuMemcpyDtoH_v2(host, data, sizeof host));
    assert_int_equal(host[63], 9);
    assert_int_equal(host[64], 7);
    OK(cu->cuMemFree_v2(data));
}

static void sizes_of_32_bits(void **state)
{
    unsigned total, there, device_total;
    CUcontext made, before;
    void *pinned;
    OK(cu->cuDeviceTotalMem(&device_total, 0));
    OK(cu->cuMemGetInfo(&there, &total));
    assert_true(there > 0 && there <= total);
    size_t all;
    OK(cu->cuDeviceTotalMem_v2(&all, 0));
    assert_int_equal(device_total, all > UINT32_MAX ? UINT32_MAX : all);
    OK(cu->cuMemAllocHost(&pinned, 4096));
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuCtxGetCurrent(&before));
    OK(cu->cuCtxCreate(&made, 0, 0));
    OK(cu->cuCtxDestroy_v2(made));
    OK(cu->cuCtxSetCurrent(before));
}

/* Device pointers of 32 bits belong to contexts of an API that is no more. */
static void pointers_of_32_bits(void **state)
{
    static const char *const names[] = {"cuMemAlloc",  "cuMemFree",         "cuMemcpyHtoD",
                                        "cuMemsetD32", "cuModuleGetGlobal", "cuMemcpy2D"};
    if (!cu->simulated)
        skip();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library) {
        char path[4096];
        snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("BUILD") ? getenv("BUILD") : "build");
        library = dlopen(path, RTLD_NOW);
    }
    assert_non_null(library);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CUresult (*call)(unsigned *, unsigned, unsigned, unsigned);
        unsigned pointer = 0;
        *(void **)&call = dlsym(library, names[i]);
        assert_non_null((void *)call);
        assert_int_equal(call(&pointer, 16, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    }
}

enum { LINES = 3, LENGTH = 64 };

static void batches_of_lines(void **state)
{
    CUstream stream;
    CUdeviceptr from = zeros(LINES * LENGTH), to = zeros(LINES * LENGTH);
    int *pinned, back[LENGTH];
    size_t failed = 0;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemHostAlloc((void **)&pinned, LENGTH * 4, 0));
    for (int i = 0; i < LENGTH; i++)
        pinned[i] = 11;
    OK(cu->cuMemsetD32_v2(from, 5, LINES * LENGTH));
    OK(cu->cuStreamSynchronize(NULL));
    CUdeviceptr sources[] = {from, (CUdeviceptr)(uintptr_t)pinned, to};
    CUdeviceptr targets[] = {to, to + LENGTH * 4, (CUdeviceptr)(uintptr_t)back};
    size_t sizes[] = {LENGTH * 4, LENGTH * 4, LENGTH * 4}, starts[] = {0, 1};
    CUmemcpyAttributes attributes[] = {
        {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
        {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL}};
    OK(cu->cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, starts, 2, &failed, stream));
    for (int i = 0; i < LENGTH; i++)
        pinned[i] = 99; /* it was read during the call */
    OK(cu->cuStreamSynchronize(stream));
    expect_all(to, LENGTH, 5);
    expect_all(to + LENGTH * 4, LENGTH, 11);
    assert_int_equal(back[LENGTH - 1], 5);
    OK(cu->cuMemcpyBatchAsync_v2(targets, sources, sizes, 2, attributes, starts, 1, stream));
    OK(cu->cuStreamSynchronize(stream));
    expect_all(to + LENGTH * 4, LENGTH, 99);

    CUmemcpyAttributes wrong = {0};
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemcpyBatchAsync(targets, sources, sizes, 3, &wrong, starts, 1, &failed, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, starts, 1, &failed, NULL));
    assert_true(failed == SIZE_MAX);
    size_t late[] = {1};
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, late, 1, &failed, stream));
    sources[1] = from;
    sizes[1] = (size_t)1 << 30; /* past the end of both */
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes,
                                                           starts, 1, &failed, stream));
    assert_int_equal(failed, 1);
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuMemFree_v2(from));
    OK(cu->cuMemFree_v2(to));
    OK(cu->cuStreamDestroy_v2(stream));
}

static CUmemcpy3DOperand box_at(CUdeviceptr address, size_t row, size_t rows)
{
    CUmemcpy3DOperand operand = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER};
    operand.op.ptr.ptr = address;
    operand.op.ptr.rowLength = row;
    operand.op.ptr.layerHeight = rows;
    return operand;
}

/* Two boxes of 4 x 3 x 2 bytes, out of 8 x 4 a layer, into a dense one and into a sparse one. */
static void batches_of_boxes(void **state)
{
    CUstream stream;
    CUdeviceptr from, to;
    unsigned char all[64], got[128];
    size_t failed = 0;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAlloc_v2(&from, sizeof all));
    OK(cu->cuMemAlloc_v2(&to, sizeof got));
    for (int i = 0; i < 64; i++)
        all[i] = (unsigned char)i;
    OK(cu->cuMemcpyHtoD_v2(from, all, sizeof all));
    OK(cu->cuMemsetD8_v2(to, 255, sizeof got));
    OK(cu->cuStreamSynchronize(NULL));
    CUDA_MEMCPY3D_BATCH_OP ops[] = {{.src = box_at(from, 8, 4),
                                     .dst = box_at(to, 0, 0),
                                     .extent = {4, 3, 2},
                                     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
                                    {.src = box_at(from + 9, 8, 4),
                                     .dst = box_at(to + 32, 16, 3),
                                     .extent = {4, 3, 2},
                                     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY}};
    OK(cu->cuMemcpy3DBatchAsync(2, ops, &failed, 0, stream));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(got, to, sizeof got));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) {
                assert_int_equal(got[x + 4 * y + 12 * z], x + 8 * y + 32 * z);
                assert_int_equal(got[32 + x + 16 * y + 48 * z], 9 + x + 8 * y + 32 * z);
            }
    assert_int_equal(got[24], 255);
    assert_int_equal(got[36], 255);
    OK(cu->cuMemcpy3DBatchAsync_v2(1, ops, 0, stream));
    OK(cu->cuStreamSynchronize(stream));
    ops[1].extent.depth = 0;
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DBatchAsync(2, ops, &failed, 0, stream));
    assert_int_equal(failed, 1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DBatchAsync(1, ops, &failed, 0, NULL));
    OK(cu->cuMemFree_v2(from));
    OK(cu->cuMemFree_v2(to));
    OK(cu->cuStreamDestroy_v2(stream));
}

static void batches_of_values(void **state)
{
    CUstream first, second;
    CUdeviceptr words = zeros(8);
    OK(cu->cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CUstreamBatchMemOpParams wait[2] = {{0}}, write[3] = {{0}};
    wait[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    wait[0].waitValue.address = words;
    wait[0].waitValue.value = 3;
    wait[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    wait[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    wait[1].writeValue.address = words + 4;
    wait[1].writeValue.value = 8;
    write[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    write[0].writeValue.address = words + 8;
    write[0].writeValue.value64 = 0x500000006;
    write[1].operation = CU_STREAM_MEM_OP_BARRIER;
    write[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write[2].writeValue.address = words;
    write[2].writeValue.value = 3;
    OK(cu->cuStreamBatchMemOp_v2(first, 2, wait, 0));
    FAILS(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(first));
    OK(cu->cuStreamBatchMemOp_v2(second, 3, write, 0));
    OK(cu->cuStreamSynchronize(first));
    OK(cu->cuStreamSynchronize(second));
    unsigned host[4];
    OK(cu->cuMemcpyDtoH_v2(host, words, sizeof host));
    assert_int_equal(host[0], 3);
    assert_int_equal(host[1], 8);
    assert_int_equal(host[2], 6);
    assert_int_equal(host[3], 5);
    if (cu->simulated) { /* a GPU's driver may have the first version switched off */
        OK(cu->cuStreamWriteValue32(first, words, 21, 0));
        OK(cu->cuStreamWriteValue64(first, words + 8, 22, 0));
        OK(cu->cuStreamWaitValue32(second, words, 21, CU_STREAM_WAIT_VALUE_EQ));
        OK(cu->cuStreamWaitValue64(second, words + 8, 22, CU_STREAM_WAIT_VALUE_GEQ));
        OK(cu->cuStreamBatchMemOp(first, 1, &wait[1], 0));
        FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuStreamBatchMemOp(first, 3, write, 0));
        OK(cu->cuStreamSynchronize(second));
    }
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuStreamBatchMemOp_v2(first, 0, wait, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuStreamBatchMemOp_v2(first, 1, NULL, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuStreamBatchMemOp_v2(first, 257, wait, 0));
    OK(cu->cuMemFree_v2(words));
    OK(cu->cuStreamDestroy_v2(first));
    OK(cu->cuStreamDestroy_v2(second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_before),  cmocka_unit_test(sizes_of_32_bits),
        cmocka_unit_test(pointers_of_32_bits), cmocka_unit_test(batches_of_lines),
        cmocka_unit_test(batches_of_boxes),    cmocka_unit_test(batches_of_values),
    };
    return cmocka_run_group_tests_name("legacy", tests, start, NULL);
}
