/*
 * test_warpgroup.c: warps of a warpgroup together: who may execute wgmma, waits that last until all
 * four warps have come, and the pool of registers of setmaxnreg.
 */
#include "simt/simt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define ENTRY(directives)                                                                          \
    ".visible .entry k(.param .u64 out) " directives " {\n"                                        \
    ".reg .pred %p<4>; .reg .b32 %r<8>, %d<4>; .reg .b64 %rd<8>;\n"                                \
    ".shared .align 128 .b8 smem[4096];\n"                                                         \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, smem; mov.u32 %r3, 0;\n"          \
    "mov.u32 %d0, 0; mov.u32 %d1, 0; mov.u32 %d2, 0; mov.u32 %d3, 0;\n"                            \
    "shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2; or.b64 %rd2, %rd2, 0x1000080000;\n"
#define PRODUCT                                                                                    \
    "wgmma.fence.sync.aligned;\n"                                                                  \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %rd2, %rd2, 1, 1, "   \
    "1, 0, 0;\n"                                                                                   \
    "wgmma.commit_group.sync.aligned;\n"
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"

static enum simt_fault_kind run(const char *text, uint32_t threads, bool shuffle,
                                uint32_t out[1024], struct simt_fault *fault)
{
    char *message = NULL;
    struct simt_options options = {
        .threads = 1, .instruction_limit = 1000000, .random_schedule = shuffle};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    uint64_t address = simt_alloc(machine, 4096, SIMT_MEMORY_DEVICE);
    struct simt_module *module =
        simt_module_load(machine, "test.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s", message);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {1, 1, 1},
                                 .block = {threads, 1, 1},
                                 .params = &address};
    enum simt_fault_kind kind = simt_run(machine, &launch, NULL, fault);
    if (out)
        memcpy(out, simt_host(machine, address, 4096), 4096);
    simt_module_unload(module);
    simt_destroy(machine);
    return kind;
}

static void a_whole_warpgroup_is_needed(void **state)
{
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("") PRODUCT WAIT "ret;\n}\n";
    assert_int_equal(run(text, 96, false, NULL, &fault), SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(fault.text, "whole warpgroup"));
    assert_int_equal(run(text, 128, false, NULL, &fault), SIMT_OK);
    assert_int_equal(run(text, 256, true, NULL, &fault), SIMT_OK);
    static const char exited[] =
        HEAD ENTRY("") "setp.eq.u32 %p1, %r1, 5;\n@%p1 exit;\n" PRODUCT WAIT "ret;\n}\n";
    assert_int_equal(run(exited, 128, false, NULL, &fault), SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(fault.text, "exited"));
}

static void a_missing_warp_is_told(void **state)
{
    struct simt_fault fault;
    static const char text[] =
        HEAD ENTRY("") "setp.ge.u32 %p1, %r1, 96;\n@%p1 bra END;\n" PRODUCT WAIT "END: ret;\n}\n";
    assert_int_equal(run(text, 128, false, NULL, &fault), SIMT_FAULT_DEADLOCK);
    assert_non_null(strstr(fault.text, "warp 3 has ended"));
}

/* Warp 0 clears B as soon as its wait is over; all other warps must have read it by then. */
static void a_wait_is_for_all_four(void **state)
{
    struct simt_fault fault;
    uint32_t out[1024];
    static const char text[] =
        HEAD ENTRY("") "mul.lo.u32 %r4, %r1, 32; mov.u32 %r5, smem; add.u32 %r4, %r4, %r5;\n"
                       "mov.u32 %r6, 0x3c003c00;\n"
                       "st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};\n"
                       "st.shared.v4.u32 [%r4+16], {%r6, %r6, %r6, %r6};\n"
                       "fence.proxy.async; bar.sync 0;\n" PRODUCT WAIT
                       "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra STORE;\n"
                       "shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r5; mov.u32 %r6, 0;\n"
                       "st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};\n"
                       "STORE: mad.wide.u32 %rd3, %r1, 4, %rd1;\n"
                       "st.global.u32 [%rd3], %d0;\nret;\n}\n";
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        assert_int_equal(run(text, 128, shuffle, out, &fault), SIMT_OK);
        for (int i = 0; i < 128; i++)
            assert_int_equal(out[i], 0x41800000); /* 16 */
    }
}

static void registers_come_from_a_pool(void **state)
{
    struct simt_fault fault;
#define SPLIT(dec, inc)                                                                            \
    HEAD ENTRY(".maxntid 384 .minnctapersm 1") "setp.ge.u32 %p1, %r1, 128;\n@%p1 bra MORE;\n"      \
                                               "setmaxnreg.dec.sync.aligned.u32 " dec ";\nret;\n"  \
                                               "MORE: setmaxnreg.inc.sync.aligned.u32 " inc        \
                                               ";\nret;\n}\n"
    assert_int_equal(run(SPLIT("40", "232"), 384, false, NULL, &fault), SIMT_OK);
    assert_int_equal(run(SPLIT("40", "232"), 384, true, NULL, &fault), SIMT_OK);
    static const char too_many[] =
        HEAD ENTRY(".maxntid 384 .minnctapersm 1") "setmaxnreg.inc.sync.aligned.u32 240;\nbar.sync "
                                                   "0;\nret;\n}\n";
    assert_int_equal(run(too_many, 384, false, NULL, &fault), SIMT_FAULT_DEADLOCK);
    assert_non_null(strstr(fault.text, "setmaxnreg"));
    static const char upward[] =
        HEAD ENTRY(".maxnreg 96") "setmaxnreg.dec.sync.aligned.u32 104;\nret;\n}\n";
    assert_int_equal(run(upward, 128, false, NULL, &fault), SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(fault.text, "has 96"));
    /* 256 would fit, but ptxas takes no more than the largest increase: -v says 232. */
    static const char no_more[] = HEAD ENTRY(
        ".maxntid 256 .minnctapersm 1") "setmaxnreg.inc.sync.aligned.u32 232;\nret;\n}\n";
    assert_int_equal(run(no_more, 256, false, NULL, &fault), SIMT_OK);
    static const char two[] =
        HEAD ENTRY(".maxntid 256 .minnctapersm 1") "setmaxnreg.inc.sync.aligned.u32 232;\n"
                                                   "setmaxnreg.inc.sync.aligned.u32 64;\nret;\n}\n";
    assert_int_equal(run(two, 256, false, NULL, &fault), SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(fault.text, "has 232"));
    /* Bounds count beside .maxnreg: 168 fit. */
    static const char both[] =
        HEAD ENTRY(".maxntid 384 .minnctapersm 1 .maxnreg 200") "setmaxnreg.dec.sync.aligned.u32 "
                                                                "176;\nret;\n}\n";
    assert_int_equal(run(both, 384, false, NULL, &fault), SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(fault.text, "has 168"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_warpgroup_is_needed),
        cmocka_unit_test(a_missing_warp_is_told),
        cmocka_unit_test(a_wait_is_for_all_four),
        cmocka_unit_test(registers_come_from_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
