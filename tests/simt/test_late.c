/*
 * test_late.c: cp.async (src/simt/late.c): what is copied is seen after a wait for its group, and
 * not before; stores of other warps that come before that wait come before the copy.
 */
#include "simt/simt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* %rd1: 64 words of the caller; %r2: shared memory; %r1: the thread. */
#define ENTRY                                                                                      \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"        \
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"                                       \
    ".shared .align 16 .b8 smem[256];\n"                                                           \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, smem;\n"                          \
    "setp.ne.u32 %p1, %r1, 0;\n"

static void run(const char *text, uint32_t threads, uint32_t memory[64])
{
    char *message = NULL;
    struct simt_fault fault;
    struct simt_options options = {.threads = 1, .instruction_limit = 1000000};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    uint64_t address = simt_alloc(machine, 256, SIMT_MEMORY_DEVICE);
    memcpy(simt_host(machine, address, 256), memory, 256);
    struct simt_module *module =
        simt_module_load(machine, "test.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s", message);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {1, 1, 1},
                                 .block = {threads, 1, 1},
                                 .params = &address};
    assert_int_equal(simt_run(machine, &launch, NULL, &fault), SIMT_OK);
    memcpy(memory, simt_host(machine, address, 256), 256);
    simt_module_unload(module);
    simt_destroy(machine);
}

static void groups_are_seen_one_by_one(void **state)
{
    uint32_t memory[64] = {0, 0, 0, 0, 7, 7, 7, 7, 8, 8, 8, 8};
    static const char text[] =
        ENTRY "st.shared.u32 [%r2], 1; st.shared.u32 [%r2+16], 2;\n"
              "cp.async.ca.shared.global [%r2], [%rd1+16], 4; cp.async.commit_group;\n"
              "cp.async.ca.shared.global [%r2+16], [%rd1+32], 16; cp.async.commit_group;\n"
              "ld.shared.u32 %r3, [%r2]; ld.shared.u32 %r4, [%r2+16];\n"
              "cp.async.wait_group 1;\n"
              "ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2+16];\n"
              "cp.async.wait_group 0;\n"
              "ld.shared.u32 %r7, [%r2+16]; ld.shared.u32 %r8, [%r2+28];\n"
              "st.global.v4.u32 [%rd1+128], {%r3, %r4, %r5, %r6};\n"
              "st.global.v2.u32 [%rd1+144], {%r7, %r8};\nret;\n}\n";
    const uint32_t want[6] = {1, 2, 7, 2, 8, 8};
    run(text, 1, memory);
    assert_memory_equal(memory + 32, want, sizeof(want));
}

/* A source is read at once; without a group, wait_all and an mbarrier's arrival see to it. */
static void copies_without_a_group(void **state)
{
    uint32_t memory[64] = {0, 0, 0, 0, 7};
    static const char text[] =
        ENTRY "st.shared.u32 [%r2], 1;\n"
              "cp.async.ca.shared.global [%r2], [%rd1+16], 4; st.global.u32 [%rd1+16], 9;\n"
              "cp.async.wait_group 0; ld.shared.u32 %r3, [%r2];\n"
              "cp.async.wait_all; ld.shared.u32 %r4, [%r2];\n"
              "mbarrier.init.shared.b64 [%r2+64], 2; membar.gl;\n"
              "cp.async.ca.shared.global [%r2], [%rd1+16], 4;\n"
              "cp.async.mbarrier.arrive.shared.b64 [%r2+64]; ld.shared.u32 %r5, [%r2];\n"
              "st.global.v2.u32 [%rd1+128], {%r3, %r4}; st.global.u32 [%rd1+136], %r5;\nret;\n}\n";
    const uint32_t want[3] = {1, 7, 9};
    run(text, 1, memory);
    assert_memory_equal(memory + 32, want, sizeof(want));
}

/* The last warp clears the place before it waits: on a GPU the copies of the others are on their
 * way for longer than that. */
static void stores_of_others_come_first(void **state)
{
    uint32_t memory[64] = {0, 0, 0, 0, 7};
    static const char text[] =
        ENTRY "@!%p1 cp.async.ca.shared.global [%r2], [%rd1+16], 4;\n"
              "setp.eq.u32 %p2, %r1, 96;\n@%p2 st.shared.u32 [%r2], 5;\n"
              "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
              "ld.shared.u32 %r3, [%r2];\n@!%p1 st.global.u32 [%rd1+128], %r3;\nret;\n}\n";
    run(text, 128, memory);
    assert_int_equal(memory[32], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_seen_one_by_one),
        cmocka_unit_test(copies_without_a_group),
        cmocka_unit_test(stores_of_others_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
