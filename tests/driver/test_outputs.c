/*
 * test_outputs.c: where launches that were cut have written (lk_driver_incomplete): by a
 * parameter's pointer, an index, a table of pointers, a pointer kept in shared memory, a tensor
 * map, and after a cut launch by any other; where that cannot be told, all blocks run. What is only
 * read is not among it.
 */
#include "driver/common.h"

#include <dlfcn.h>
#include <string.h>

enum { BLOCKS = 2048, THREADS = 128, COUNT = BLOCKS * THREADS, BYTES = 4 * COUNT };
enum { KEEPS = 1 };
#define ALSO_READ ((uint64_t)1 << 63)

static uint64_t (*sample)(uint64_t instructions, uint64_t rest, unsigned flags);
static size_t (*incomplete)(uint64_t *addresses, size_t most);
static CUdeviceptr in, out, table;

/* out, in and table are parameters of all; %rd3 is 4 * the thread's number. */
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 out, .param .u64 in, .param .u64 table)\n{\n"            \
    " .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .pred %p; .shared .b64 "            \
    "kept[128];\n"                                                                                 \
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 128, %r2;\n"                \
    " mul.wide.u32 %rd3, %r3, 4; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n"             \
    " ld.param.u64 %rd4, [table];\n" body "\n ret;\n}\n"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.global .u64 place;\n" KERNEL(
        "direct", "add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r4, [%rd2];"
                  "add.u64 %rd1, %rd1, %rd3; st.global.u32 [%rd1], %r4;")
        KERNEL("in_place", "add.u64 %rd1, %rd1, %rd3; ld.global.u32 %r4, [%rd1];"
                           "add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;")
            KERNEL("scattered", "ld.global.u64 %rd5, [%rd4]; and.b64 %rd5, %rd5, 0;"
                                "add.u64 %rd5, %rd5, %rd3; add.u64 %rd1, %rd1, %rd5;"
                                "st.global.u32 [%rd1], %r3;")
                KERNEL("by_table", "ld.global.u64 %rd5, [%rd4+8]; add.u64 %rd5, %rd5, %rd3;"
                                   "st.global.u32 [%rd5], %r3;")
                    KERNEL(
                        "by_shared",
                        "mov.u64 %rd6, kept; mul.wide.u32 %rd7, %r2, 8; add.u64 %rd6, %rd6, %rd7;"
                        "st.shared.u64 [%rd6], %rd1; ld.shared.u64 %rd5, [%rd6];"
                        "add.u64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], %r3;")
                        KERNEL("by_choice",
                               "setp.lt.u32 %p, %r2, 200; selp.b64 %rd5, %rd1, %rd4, %p;"
                               "add.u64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], %r3;")
                            KERNEL(
                                "in_halves",
                                "mov.b64 {%r4, %r5}, %rd1; shfl.sync.idx.b32 %r6, %r4, 0, 31, -1;"
                                "mov.b64 %rd5, {%r6, %r5}; add.u64 %rd5, %rd5, %rd3;"
                                "st.global.u32 [%rd5], %r3;")
                                KERNEL("by_variable",
                                       "st.global.u64 [place], %rd1; ld.global.u64 %rd5, [place];"
                                       "add.u64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], %r3;")
                                    KERNEL("by_nested_table",
                                           "ld.global.u64 %rd5, [%rd4]; ld.global.u64 %rd5, [%rd5];"
                                           "add.u64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], %r3;");

static const char map_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry by_map(.param .align 64 .b8 map[128], .param .u64 in)\n{\n"
    " .reg .b64 %rd<9>; .reg .b32 %r<9>; .shared .align 128 .b8 tile[512]; .reg .pred %p;\n"
    " mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 7; mov.u32 %r2, %tid.x; mov.u32 %r3, tile;\n"
    " mad.lo.u32 %r4, %r2, 4, %r3; st.shared.u32 [%r4], %r2;\n"
    " fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r2, 0; @%p bra done;\n"
    " mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1;\n"
    " cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r1}], [%r3];\n"
    " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
    "done: ret;\n}\n";

static CUmodule code, map_code;

static void launch(CUfunction kernel, void **params)
{
    CUevent event;
    OK(cu->cuEventCreate(&event, 0));
    OK(cu->cuEventRecord(event, NULL)); /* launches are timed while there is one */
    OK(cu->cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuEventDestroy(event));
}

static CUfunction kernel_of(const char *name)
{
    CUfunction kernel;
    OK(cu->cuModuleGetFunction(&kernel, strcmp(name, "by_map") ? code : map_code, name));
    return kernel;
}

/* Which of the three it may have written to, as 1, 2, 4; 8: somewhere else; 16 times that: if it
 * may have read it, too. */
static unsigned places(void)
{
    uint64_t all[64];
    size_t count = incomplete(all, 64);
    unsigned which = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = all[i] & ~ALSO_READ;
        unsigned place = at - out < BYTES ? 1 : at - in < BYTES ? 2 : at - table < BYTES ? 4 : 8;
        which |= place | (all[i] & ALSO_READ ? 16 * place : 0);
    }
    return which;
}

/* Runs a sample of it; `cut`: others were left out. */
static unsigned run(const char *name, bool cut)
{
    uint64_t pointers[8] = {in, out};
    OK(cu->cuMemsetD8_v2(in, 0, BYTES));
    OK(cu->cuMemcpyHtoD_v2(in, &out, sizeof out));
    OK(cu->cuMemcpyHtoD_v2(table, pointers, sizeof pointers));
    void *params[] = {&out, &in, &table};
    uint64_t before = sample(10000, 0, KEEPS);
    launch(kernel_of(name), params);
    assert_int_equal(sample(0, 0, 0), before + cut);
    return places();
}

static void where_a_cut_launch_writes(void **state)
{
    static const struct {
        const char *name;
        unsigned places;
    } cases[] = {{"direct", 1},    {"in_place", 17}, {"scattered", 1}, {"by_table", 3 + 48},
                 {"by_shared", 1}, {"by_choice", 5}, {"in_halves", 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (run(cases[i].name, true) != cases[i].places)
            fail_msg("%s", cases[i].name);
    assert_int_equal(run("direct", true), 1);
}

static void where_it_cannot_be_told_all_run(void **state)
{
    assert_int_equal(run("by_variable", false), 0);
    assert_int_equal(run("by_nested_table", false), 0);
}

static void tensor_maps(void **state)
{
    CUtensorMap map;
    uint64_t size = COUNT, before = sample(10000, 0, KEEPS);
    uint32_t box = THREADS, step = 1;
    OK(cu->cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 1, (void *)out, &size, NULL,
                                  &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    void *params[] = {&map, &in};
    launch(kernel_of("by_map"), params);
    assert_int_equal(sample(0, 0, 0), before + 1);
    assert_int_equal(places(), 1);
}

/* They may read what it should have written. */
static void launches_after_a_cut_one(void **state)
{
    enum { FOLLOWS = 2 };
    void *params[] = {&table, &in, &table};
    for (unsigned follows = 0; follows < 2; follows++) {
        uint64_t before = sample(10000, UINT64_MAX, KEEPS | (follows ? FOLLOWS : 0));
        launch(kernel_of("direct"), params);
        assert_int_equal(sample(0, 0, 0), before);
        assert_int_equal(places(), follows ? 4 : 0);
    }
}

static int prepare(void **state)
{
    if (start(state))
        return 1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&sample = dlsym(library, "lk_driver_sample");
    *(void **)&incomplete = dlsym(library, "lk_driver_incomplete");
    if (!sample || !incomplete)
        return 1;
    OK(cu->cuModuleLoadData(&code, ptx));
    OK(cu->cuModuleLoadData(&map_code, map_ptx));
    OK(cu->cuMemAlloc_v2(&in, BYTES));
    OK(cu->cuMemAlloc_v2(&out, BYTES));
    OK(cu->cuMemAlloc_v2(&table, BYTES));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_a_cut_launch_writes),
        cmocka_unit_test(where_it_cannot_be_told_all_run),
        cmocka_unit_test(tensor_maps),
        cmocka_unit_test(launches_after_a_cut_one),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
