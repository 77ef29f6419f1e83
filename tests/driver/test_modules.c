/*
 * test_modules.c: modules from PTX text and from fat binaries, libraries, the linker, attributes,
 * occupancy, and invalid images.
 */
#include "driver/common.h"

static void finds_kernels_and_variables(void **state)
{
    CUfunction found;
    CUdeviceptr address;
    size_t size, offset;
    unsigned count;
    int value;
    const char *name;
    FAILS(CUDA_ERROR_NOT_FOUND, cu->cuModuleGetFunction(&found, module, "nothing"));
    OK(cu->cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 5);
    OK(cu->cuModuleGetGlobal_v2(&address, &size, module, "counter"));
    assert_int_equal(size, 4);
    OK(cu->cuMemcpyDtoH_v2(&value, address, 4));
    assert_int_equal(value, 7);
    FAILS(CUDA_ERROR_NOT_FOUND, cu->cuModuleGetGlobal_v2(&address, &size, module, "nothing"));
    OK(cu->cuFuncGetName(&name, function("add")));
    assert_string_equal(name, "add");
    OK(cu->cuFuncGetParamInfo(function("add"), 2, &offset, &size));
    assert_int_equal(offset, 12);
    assert_int_equal(size, 4);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuFuncGetParamInfo(function("add"), 3, &offset, &size));
    OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("shared")));
    assert_int_equal(value, 1024);
    OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("add")));
    assert_int_equal(value, 1024);
}

static void libraries(void **state)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction found;
    unsigned count;
    CUdeviceptr data = zeros(32);
    int n = 32, value = 4;
    void *params[] = {&data, &n, &value};
    OK(cu->cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu->cuLibraryGetKernel(&kernel, library, "add"));
    FAILS(CUDA_ERROR_NOT_FOUND, cu->cuLibraryGetKernel(&kernel, library, "nothing"));
    OK(cu->cuLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 5);
    OK(cu->cuKernelGetFunction(&found, kernel));
    OK(cu->cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuLaunchKernel(found, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    expect_all(data, 32, 8);
    OK(cu->cuLibraryUnload(library));
    OK(cu->cuMemFree_v2(data));
}

static void broken_ptx_is_explained(void **state)
{
    char log[512] = "";
    CUmodule broken;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    FAILS(CUDA_ERROR_INVALID_PTX,
          cu->cuModuleLoadDataEx(&broken,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".visible .entry k() { nonsense.u32 %r1; }\n",
                                 2, options, values));
    assert_true(strlen(log) > 10);
    FAILS(CUDA_ERROR_INVALID_IMAGE, cu->cuModuleLoadData(&broken, "this is just text"));
    FAILS(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
          cu->cuModuleLoadData(&broken, ".version 99.0\n.target sm_70\n.address_size 64\n"));
    FAILS(CUDA_ERROR_INVALID_PTX,
          cu->cuModuleLoadData(&broken, ".version 9.0\n.target sm_121\n.address_size 64\n"));
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cu->cuModuleLoad(&broken, "/nowhere/x.ptx"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuModuleLoadData(&broken, NULL));
}

static void links_ptx(void **state)
{
    static char one[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                        ".global .align 4 .u32 own = 3;\n"
                        ".extern .func (.param .b32 r) other();\n"
                        ".visible .entry sum(.param .u64 out)\n{\n .reg .b32 %r<4>;\n"
                        " .reg .b64 %rd<3>;\n mov.u64 %rd2, own; ld.global.u32 %r1, [%rd2];\n"
                        " { .param .b32 r0; call (r0), other, (); ld.param.b32 %r2, [r0]; }\n"
                        " add.u32 %r3, %r1, %r2; ld.param.u64 %rd1, [out];\n"
                        " cvta.to.global.u64 %rd1, %rd1; st.global.u32 [%rd1], %r3; ret;\n}\n";
    static char two[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                        ".global .align 4 .u32 own = 40;\n"
                        ".visible .func (.param .b32 r) other()\n{\n .reg .b32 %r<2>;\n"
                        " .reg .b64 %rd<2>;\n mov.u64 %rd1, own; ld.global.u32 %r1, [%rd1];\n"
                        " st.param.b32 [r], %r1; ret;\n}\n";
    CUlinkState link;
    void *cubin;
    size_t size;
    CUmodule linked;
    CUfunction sum;
    CUdeviceptr data = zeros(1);
    void *params[] = {&data};
    OK(cu->cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, one, sizeof one, "one", 0, NULL, NULL));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, two, sizeof two, "two", 0, NULL, NULL));
    OK(cu->cuLinkComplete(link, &cubin, &size));
    OK(cu->cuModuleLoadData(&linked, cubin));
    OK(cu->cuLinkDestroy(link));
    OK(cu->cuModuleGetFunction(&sum, linked, "sum"));
    OK(cu->cuLaunchKernel(sum, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    expect_all(data, 1, 43);
    OK(cu->cuModuleUnload(linked));
    OK(cu->cuMemFree_v2(data));
}

static size_t shared_for(int threads)
{
    return (size_t)threads * 16;
}

static void occupancy(void **state)
{
    int blocks, grid, size, sms;
    size_t bytes;
    OK(cu->cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 1024, 0));
    assert_in_range(blocks, 1, 2);
    OK(cu->cuOccupancyMaxPotentialBlockSize(&grid, &size, function("add"), NULL, 0, 0));
    assert_true(size % 32 == 0 && grid % sms == 0 && size > 0);
    OK(cu->cuOccupancyMaxPotentialBlockSize(&grid, &size, function("shared"), shared_for, 0, 256));
    assert_in_range(size, 32, 256);
    /* no more than the function may have at its launch, until it is allowed more */
    static const struct {
        int allowed, blocks, least, most;
    } cases[] = {{48 << 10, 1, 48 << 10, 48 << 10},
                 {100 << 10, 1, 100 << 10, 100 << 10},
                 {100 << 10, 2, 64 << 10, 100 << 10},
                 {48 << 10, 1, 48 << 10, 48 << 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OK(cu->cuFuncSetAttribute(function("add"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  cases[i].allowed));
        OK(cu->cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function("add"), cases[i].blocks,
                                                       128));
        assert_in_range(bytes, cases[i].least, cases[i].most);
        OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 128, bytes));
        assert_true(blocks >= cases[i].blocks);
        OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 128,
                                                           (size_t)cases[i].allowed + 1));
        assert_int_equal(blocks, 0);
    }
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 0, 0));
}

/* More values alive at once than 576 threads have registers for: 18 warps are dealt out to four
 * files of registers, and the fullest has five. A kernel whose .maxntid says so is given fewer. */
static void blocks_of_the_declared_size_fit(void **state)
{
    enum { VALUES = 150 };
    char text[16384];
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry many(.param .u64 p) .maxntid 576, 1, 1\n{\n"
                          ".reg .b64 %%a;\n.reg .b32 %%r<%d>;\nld.param.u64 %%a, [p];\n",
                          VALUES);
    for (int i = 0; i < VALUES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "ld.volatile.global.u32 %%r%d, [%%a+%d];\n", i, 4 * i);
    for (int i = 0; i < VALUES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "st.volatile.global.u32 [%%a+%d], %%r%d;\n", 4 * i, VALUES - 1 - i);
    snprintf(text + length, sizeof text - (size_t)length, "ret;\n}\n");
    CUmodule loaded;
    CUfunction many;
    int blocks;
    OK(cu->cuModuleLoadData(&loaded, text));
    OK(cu->cuModuleGetFunction(&many, loaded, "many"));
    OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, many, 576, 0));
    assert_int_equal(blocks, 1);
    OK(cu->cuModuleUnload(loaded));
}

static void entry_points_by_name(void **state)
{
    void *found;
    CUdriverProcAddressQueryResult why;
    OK(cu->cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &why));
    assert_non_null(found);
    OK(cu->cuGetProcAddress_v2("cuCtxCreate", &found, 11000, 0, &why));
    assert_non_null(found);
    OK(cu->cuGetProcAddress_v2("cuNothing", &found, 13000, 0, &why)); /* why says it all */
    assert_int_equal(why, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_null(found);
    OK(cu->cuGetProcAddress_v2("cuGraphAddNode", &found, 11000, 0, &why));
    assert_int_equal(why, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    int version;
    OK(cu->cuDriverGetVersion(&version));
    assert_true(version >= 12000);
}

static void errors_have_names(void **state)
{
    const char *text;
    OK(cu->cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cu->cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuGetErrorName((CUresult)12345, &text));
#define RESULT(name, value, words)                                                                 \
    if (cu->cuGetErrorString(name, &text) == CUDA_SUCCESS)                                         \
        assert_string_equal(text, words);
#include "cuda/results.def"
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_kernels_and_variables),
        cmocka_unit_test(libraries),
        cmocka_unit_test(broken_ptx_is_explained),
        cmocka_unit_test(links_ptx),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(blocks_of_the_declared_size_fit),
        cmocka_unit_test(entry_points_by_name),
        cmocka_unit_test(errors_have_names),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
