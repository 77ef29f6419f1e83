/*
 * test_limits.c: what a module may have and a kernel may reach: sizes of constant, local, parameter
 * and global memory, definitions that several texts share, registers, packed parameters, and memory
 * that nobody wrote. Everything a GPU refuses is refused before it costs the host anything.
 */
#include "driver/common.h"

#include <sys/resource.h>

#define HEAD ".version 8.5\n.target sm_80\n.address_size 64\n"
#define KERNEL ".visible .entry k(.param .u64 out)\n{\n .reg .b32 %r<9>; .reg .b64 %d<9>;\n"

static CUresult load(const char *text, CUmodule *loaded, char *log, size_t size)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)size};
    log[0] = 0;
    return cu->cuModuleLoadDataEx(loaded, text, 2, options, values);
}

static void refuses(CUresult error, const char *text, const char *why)
{
    char log[1024];
    CUmodule loaded;
    CUresult result = load(text, &loaded, log, sizeof log);
    if (result != error || (why && !strstr(log, why)))
        fail_msg("%d and \"%s\", not %d and \"%s\"", result, log, error, why);
}

static void takes(const char *text)
{
    char log[1024];
    CUmodule loaded;
    if (load(text, &loaded, log, sizeof log) != CUDA_SUCCESS)
        fail_msg("%s", log);
    OK(cu->cuModuleUnload(loaded));
}

/* A GPU compiles these and reads what lies there; here nothing may. */
static void parameters_end_where_they_end(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {HEAD KERNEL "ld.param.u32 %r1, [out+4096]; ret; }", "offset 4096 of 'out', which has 8"},
        {HEAD KERNEL "ld.param.u32 %r1, [out+-4]; ret; }", "offset -4 of 'out'"},
        {HEAD KERNEL "ld.param.v2.u64 {%d1, %d2}, [out]; ret; }", "16 bytes at offset 0"},
        {HEAD KERNEL "ld.param.u64 %d1, [out+4]; ret; }", "8 bytes at offset 4"},
        {HEAD KERNEL "ld.param.u16 %r1, [out+3]; ret; }", "not aligned to 2"},
        {HEAD KERNEL "ld.param.u8 %r1, [out+0x8000000000000000]; ret; }", "of 'out'"},
        {HEAD KERNEL "st.param.u64 [out], %d1; ret; }", "cannot be written"},
        {HEAD KERNEL "ld.u64 %d1, [out]; ret; }", "another state space"},
        {HEAD KERNEL ".param .b32 q; st.param.b32 [q+-8], %r1; ret; }", "offset -8 of 'q'"},
        {HEAD KERNEL ".param .b32 q; st.param.b32 [q+4], %r1; ret; }", "offset 4 of 'q'"},
        {HEAD KERNEL ".param .b32 q; mov.u64 %d1, q; ret; }", "cannot be taken"},
        {HEAD ".func f(.param .b32 a)\n{ .reg .b32 %r; ld.param.b32 %r, [a+4]; ret; }",
         "offset 4 of 'a'"},
        {HEAD ".func (.param .b32 a) f()\n{ .reg .b32 %r; st.param.b32 [a+64], %r; ret; }",
         "offset 64 of 'a'"},
        {HEAD ".func (.param .b32 a) f()\n{ .reg .b32 %r; ld.param.b32 %r, [a]; ret; }",
         "cannot be read"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(CUDA_ERROR_INVALID_PTX, bad[i].text, bad[i].why);
    takes(HEAD KERNEL "ld.param.v2.u32 {%r1, %r2}, [out]; ld.param.u8 %r1, [out+7]; ret; }");
}

static void sizes_have_limits(void **state)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    takes(HEAD ".const .b8 a[65536];\n" KERNEL "ret; }");
    refuses(CUDA_ERROR_INVALID_PTX, HEAD ".const .b8 a[65537];\n" KERNEL "ret; }", "65537 bytes");
    refuses(CUDA_ERROR_INVALID_PTX,
            HEAD ".const .b8 a[40000];\n.const .b8 b[40000];\n" KERNEL "ret; }", "80000 bytes");
    takes(HEAD KERNEL ".local .b8 a[524288]; ret; }");
    refuses(CUDA_ERROR_INVALID_PTX, HEAD KERNEL ".local .b8 a[524289]; ret; }", "limit 524288");
    refuses(CUDA_ERROR_INVALID_PTX, HEAD KERNEL ".local .b8 a[4294967296]; ret; }", "limit 524288");
    refuses(CUDA_ERROR_INVALID_PTX, HEAD KERNEL ".param .b8 a[4294967300]; ret; }", "limit 524288");
    takes(HEAD ".visible .entry k(.param .b8 a[32764]) { ret; }");
    refuses(CUDA_ERROR_INVALID_PTX, HEAD ".visible .entry k(.param .b8 a[32765]) { ret; }",
            "limit 32764");
#ifndef __SANITIZE_THREAD__ /* there is less address space */
    takes(HEAD ".global .b8 a[8589934592];\n" KERNEL "ret; }");
#endif
    refuses(CUDA_ERROR_OUT_OF_MEMORY, HEAD ".global .b8 a[1000000000000];\n" KERNEL "ret; }", NULL);
    refuses(CUDA_ERROR_OUT_OF_MEMORY,
            HEAD ".global .b8 a[100000000000];\n.global .b8 b[100000000000];\n" KERNEL "ret; }",
            NULL);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 256 << 10); /* KiB */
}

static CUmodule link_texts(const char *const *texts, size_t count, unsigned registers)
{
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)registers;
    CUlinkState link;
    CUmodule loaded;
    void *cubin;
    OK(cu->cuLinkCreate_v2(registers ? 1 : 0, &option, &value, &link));
    for (size_t i = 0; i < count; i++)
        OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)texts[i],
                                strlen(texts[i]) + 1, "text", 0, NULL, NULL));
    OK(cu->cuLinkComplete(link, &cubin, NULL));
    OK(cu->cuModuleLoadData(&loaded, cubin));
    OK(cu->cuLinkDestroy(link));
    return loaded;
}

static int value_of(CUmodule loaded, const char *name, size_t bytes)
{
    CUdeviceptr address;
    size_t size;
    int value;
    OK(cu->cuModuleGetGlobal_v2(&address, &size, loaded, name));
    assert_int_equal(size, bytes);
    OK(cu->cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static void one_definition_of_several_stays(void **state)
{
    static const char one[] =
        HEAD ".weak .global .align 4 .u32 w = 1;\n.weak .global .align 4 .u32 s = 2;\n"
             ".common .global .align 4 .b8 c[4];\n.weak .global .align 4 .u32 z;\n"
             ".weak .func (.param .b32 r) f()\n{ st.param.b32 [r], 5; ret; }\n" KERNEL
             "ld.param.u64 %d1, [out]; .param .b32 q; call (q), f, (); ld.param.b32 %r1, [q];\n"
             "st.global.u32 [%d1], %r1; ld.global.u32 %r1, [s]; st.global.u32 [%d1+4], %r1;\n"
             "ld.global.u32 %r1, [c]; st.global.u32 [%d1+8], %r1; ret; }\n";
    static const char two[] = HEAD
        ".weak .global .align 4 .u32 w = 3;\n.visible .global .align 4 .u32 s = 4;\n"
        ".common .global .align 4 .b8 c[64];\n.weak .global .align 4 .u32 z;\n"
        ".visible .func (.param .b32 r) f()\n{ st.param.b32 [r], 6; ret; }\n"
        ".visible .entry k2()\n{ .reg .b32 %r; ld.global.u32 %r, [w]; ld.global.u32 %r, [c+60];"
        " ret; }\n";
    const char *texts[] = {one, two};
    int results[3];
    CUfunction kernel;
    CUdeviceptr out = zeros(3);
    void *params[] = {&out};
    CUmodule loaded = link_texts(texts, 2, 0);
    assert_int_equal(value_of(loaded, "w", 4), 1);
    assert_int_equal(value_of(loaded, "s", 4), 4);
    assert_int_equal(value_of(loaded, "z", 4), 0);
    assert_int_equal(value_of(loaded, "c", 64), 0);
    OK(cu->cuModuleGetFunction(&kernel, loaded, "k"));
    OK(cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuMemcpyDtoH_v2(results, out, sizeof results));
    assert_int_equal(results[0], 6);
    assert_int_equal(results[1], 4);
    assert_int_equal(results[2], 0);
    OK(cu->cuModuleUnload(loaded));
    OK(cu->cuMemFree_v2(out));
}

static int registers_of(CUmodule loaded)
{
    CUfunction kernel;
    int value;
    OK(cu->cuModuleGetFunction(&kernel, loaded, "busy"));
    OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
    return value;
}

static void registers_are_limited(void **state)
{
    char text[8192] =
        HEAD ".visible .entry busy(.param .u64 out) .maxntid 256, 1, 1\n{\n .reg .b32 %r<99>; "
             ".reg .b64 %d<2>;\n ld.param.u64 %d1, [out];\n";
    for (int i = 0; i < 80; i++) /* all alive at once */
        sprintf(text + strlen(text), " ld.volatile.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    for (int i = 0; i < 80; i++)
        sprintf(text + strlen(text), " st.volatile.global.u32 [%%d1+%d], %%r%d;\n", 4 * i, 79 - i);
    strcat(text, " ret;\n}\n");
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)32;
    CUmodule plain, limited;
    const char *texts[] = {text};
    int blocks = 0, more = 0;
    CUfunction kernel;
    OK(cu->cuModuleLoadData(&plain, text));
    OK(cu->cuModuleLoadDataEx(&limited, text, 1, &option, &value));
    assert_true(registers_of(plain) > 80);
    assert_true(registers_of(limited) <= 32);
    OK(cu->cuModuleGetFunction(&kernel, plain, "busy"));
    OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    OK(cu->cuModuleGetFunction(&kernel, limited, "busy"));
    OK(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&more, kernel, 256, 0));
    assert_true(more > blocks);
    OK(cu->cuModuleUnload(plain));
    OK(cu->cuModuleUnload(limited));
    limited = link_texts(texts, 1, 32);
    assert_true(registers_of(limited) <= 32);
    OK(cu->cuModuleUnload(limited));
    CUlibrary library;
    OK(cu->cuLibraryLoadData(&library, text, &option, &value, 1, NULL, NULL, 0));
    OK(cu->cuLibraryGetModule(&limited, library));
    assert_true(registers_of(limited) <= 32);
    OK(cu->cuLibraryUnload(library));
}

static CUresult launch_packed(const void *packed, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)packed,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return cu->cuLaunchKernel(function("add"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra);
}

static void packed_parameters_have_their_size(void **state)
{
    struct {
        CUdeviceptr data;
        int n, value;
    } packed = {zeros(32), 32, 3};
    char longer[4096] = {0};
    memcpy(longer, &packed, sizeof packed);
    OK(launch_packed(&packed, sizeof packed));
    FAILS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch_packed(longer, sizeof packed + 8));
    FAILS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch_packed(longer, sizeof longer));
    expect_all(packed.data, 32, 3);
    OK(cu->cuMemFree_v2(packed.data));
}

/* Blocks that write shared and local memory, then blocks that read what nobody wrote. */
static void unwritten_memory_is_zero(void **state)
{
    static const char text[] = HEAD
        ".visible .entry fill()\n{\n .reg .b32 %r<4>; .reg .b64 %d<4>; .shared .b32 s[256];\n"
        " .local .b32 l[64]; mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 4; mov.u32 %r2, s;\n"
        " add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], -1; mov.u64 %d1, l; mov.u32 %r1, 0;\n"
        "MORE: st.local.u32 [%d1], -1; add.u64 %d1, %d1, 4; add.u32 %r1, %r1, 1;\n"
        " .reg .pred %p; setp.lt.u32 %p, %r1, 64; @%p bra MORE; ret;\n}\n"
        ".func (.param .b32 r) callee(.param .b32 x)\n{\n .reg .b32 %r<4>; .local .b32 l[16];\n"
        " ld.local.u32 %r1, [l+32]; or.b32 %r1, %r1, %r2; ld.param.u32 %r3, [x];\n"
        " st.local.u32 [l+32], %r3; st.param.b32 [r], %r1; ret;\n}\n"
        ".visible .entry look(.param .u64 out)\n{\n .reg .b32 %r<9>; .reg .b64 %d<5>;\n"
        " .reg .pred %p<2>; .shared .b32 s[256]; .local .b32 l[64];\n"
        " mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 4; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;\n"
        " ld.shared.u32 %r3, [%r2]; and.b32 %r4, %r1, 252; cvt.u64.u32 %d1, %r4;\n"
        " mov.u64 %d2, l; add.u64 %d2, %d2, %d1; ld.local.u32 %r4, [%d2]; or.b32 %r3, %r3, %r4;\n"
        " or.b32 %r3, %r3, %r5; { .param .b32 a; .param .b32 b; st.param.b32 [a], -1;\n"
        " call (b), callee, (a); ld.param.b32 %r6, [b]; call (b), callee, (a);\n"
        " ld.param.b32 %r7, [b]; } or.b32 %r3, %r3, %r6; or.b32 %r3, %r3, %r7;\n"
        " alloca.u64 %d3, 64; ld.local.u32 %r6, [%d3+60]; or.b32 %r3, %r3, %r6;\n"
        " selp.u32 %r6, 1, 0, %p1; or.b32 %r3, %r3, %r6;\n"
        " mov.u32 %r6, %ctaid.x; mad.lo.u32 %r6, %r6, 256, %r0;\n"
        " ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r6, 4; add.u64 %d1, %d1, %d2;\n"
        " st.global.u32 [%d1], %r3; ret;\n}\n";
    CUmodule loaded;
    CUfunction fill, look;
    CUdeviceptr out = zeros(64 * 256), fresh;
    void *params[] = {&out};
    int values[256];
    OK(cu->cuModuleLoadData(&loaded, text));
    OK(cu->cuModuleGetFunction(&fill, loaded, "fill"));
    OK(cu->cuModuleGetFunction(&look, loaded, "look"));
    for (int i = 0; i < 3; i++) {
        OK(cu->cuLaunchKernel(fill, 64, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
        OK(cu->cuLaunchKernel(look, 64, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
        expect_all(out, 64 * 256, 0);
    }
    for (int i = 0; i < 3; i++) { /* the same addresses again */
        OK(cu->cuMemAlloc_v2(&fresh, sizeof values));
        OK(cu->cuMemcpyDtoH_v2(values, fresh, sizeof values));
        for (int k = 0; k < 256; k++)
            assert_int_equal(values[k], 0);
        OK(cu->cuMemsetD8_v2(fresh, 0xee, sizeof values));
        OK(cu->cuMemFree_v2(fresh));
    }
    OK(cu->cuModuleUnload(loaded));
    OK(cu->cuMemFree_v2(out));
}

/* NVVM reads four words where a program wants the last three of 28 bytes. What begins behind them
 * is refused. */
static void reads_may_end_behind_shared_memory(void **state)
{
    static const char text[] =
        HEAD ".extern .shared .align 16 .b8 words[];\n" KERNEL
             " ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; ld.global.u32 %r6, [%d1];\n"
             " mov.u32 %r1, words; add.u32 %r1, %r1, %r6; mov.u32 %r5, 7;\n"
             " st.shared.u32 [words+24], %r5; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\n"
             " st.global.u32 [%d1], %r4; ret; }";
    char log[1024];
    CUmodule loaded;
    CUfunction kernel;
    CUdeviceptr out = zeros(1);
    void *params[] = {&out};
    if (load(text, &loaded, log, sizeof log) != CUDA_SUCCESS)
        fail_msg("%s", log);
    OK(cu->cuModuleGetFunction(&kernel, loaded, "k"));
    OK(cu->cuMemsetD32_v2(out, 16, 1));
    OK(cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 28, NULL, params, NULL));
    expect_all(out, 1, 7);
    if (!cu->simulated)
        return; /* the process would be lost */
    OK(cu->cuMemsetD32_v2(out, 32, 1));
    OK(cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 28, NULL, params, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_INSTRUCTION, cu->cuCtxSynchronize());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_end_where_they_end),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(one_definition_of_several_stays),
        cmocka_unit_test(registers_are_limited),
        cmocka_unit_test(packed_parameters_have_their_size),
        cmocka_unit_test(unwritten_memory_is_zero),
        cmocka_unit_test(reads_may_end_behind_shared_memory),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
