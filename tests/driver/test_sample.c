/*
 * test_sample.c: timed launches of which a part of the blocks is counted (lk_driver_sample): their
 * time is that of the whole grid, the other blocks run once or not at all, launches are whole again
 * afterwards, and kernels whose blocks may wait for each other are always whole.
 */
#include "driver/common.h"

#include <dlfcn.h>

enum { BLOCKS = 1003, THREADS = 256, COUNT = BLOCKS * THREADS };

static uint64_t (*sample)(uint64_t instructions, uint64_t rest, unsigned flags);
static CUfunction add, count_up, copy_add;
static CUdeviceptr data;
static int result[COUNT];

static const char atomic_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry count_up(.param .u64 data)\n{\n .reg .b64 %rd; .reg .b32 %r;\n"
    " ld.param.u64 %rd, [data]; mov.u32 %r, 1; red.global.add.u32 [%rd], %r;\n ret;\n}\n";

/* data[i] += one * (1 + its block % 16) by way of cp.async, which is followed in time: the block
 * goes round its loop so many times. */
static const char copy_ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry copy_add(.param .u64 data, .param .u32 n, .param .u32 one)\n{\n"
    " .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .pred %p; .shared .align 16 .b32 tile[256];\n"
    " ld.param.u64 %rd1, [data]; ld.param.u32 %r6, [one]; mov.u32 %r1, %ctaid.x;\n"
    " mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2; mul.wide.u32 %rd2, %r3, 4;\n"
    " add.u64 %rd1, %rd1, %rd2; mov.u32 %r4, tile; mad.lo.u32 %r4, %r2, 4, %r4;\n"
    " and.b32 %r7, %r1, 15;\n"
    "again: cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group;\n"
    " cp.async.wait_group 0; ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, %r6;\n"
    " st.global.u32 [%rd1], %r5; sub.u32 %r7, %r7, 1; setp.ge.s32 %p, %r7, 0;\n"
    " @%p bra again; ret;\n}\n";

/* Milliseconds of a launch onto zeros; fills result. */
static float run(CUfunction kernel)
{
    CUevent begin, end;
    float ms;
    int n = COUNT, one = 1;
    void *params[] = {&data, &n, &one};
    OK(cu->cuMemsetD32_v2(data, 0, COUNT));
    OK(cu->cuEventCreate(&begin, 0));
    OK(cu->cuEventCreate(&end, 0));
    OK(cu->cuEventRecord(begin, NULL));
    OK(cu->cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuEventRecord(end, NULL));
    OK(cu->cuEventSynchronize(end));
    OK(cu->cuEventElapsedTime_v2(&ms, begin, end));
    OK(cu->cuMemcpyDtoH_v2(result, data, sizeof result));
    OK(cu->cuEventDestroy(begin));
    OK(cu->cuEventDestroy(end));
    return ms;
}

static int sum(void)
{
    int total = 0;
    for (int i = 0; i < COUNT; i++)
        total += result[i];
    return total;
}

static void a_part_stands_for_all(void **state)
{
    float whole = run(add);
    assert_int_equal(sum(), COUNT);
    uint64_t before = sample(10000, 1000, 0);
    float part = run(add);
    assert_int_equal(sample(0, 0, 0), before + 1);
    assert_true(sum() > 0 && sum() < COUNT / 4);
    assert_true(part > 0.9f * whole && part < 1.1f * whole);
    assert_true(run(add) == whole);
    assert_int_equal(sum(), COUNT);
}

static void the_rest_runs_once(void **state)
{
    float whole = run(add);
    uint64_t before = sample(10000, UINT64_MAX, 0);
    float part = run(add);
    assert_int_equal(sample(0, 0, 0), before);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(result[i], 1);
    assert_true(part > 0.9f * whole && part < 1.1f * whole);
}

/* Blocks of some SMs, of different lengths. */
static void launches_followed_in_time(void **state)
{
    float whole = run(copy_add);
    for (int complete = 0; complete < 2; complete++) {
        uint64_t before = sample(40000, complete ? UINT64_MAX : 0, 0);
        float part = run(copy_add);
        assert_int_equal(sample(0, 0, 0), before + !complete);
        assert_true(part > 0.9f * whole && part < 1.1f * whole);
        int ran = 0;
        for (int i = 0; i < COUNT; i++) {
            assert_true(result[i] == i / THREADS % 16 + 1 || (!complete && !result[i]));
            ran += result[i] > 0;
        }
        assert_true(complete ? ran == COUNT : ran > 0 && ran < COUNT / 2);
    }
}

/* Also those of rows that do not divide by four. */
static void small_launches_are_whole(void **state)
{
    uint64_t before = sample(100000000, 0, 0);
    run(add);
    assert_int_equal(sum(), COUNT);
    assert_int_equal(sample(0, 0, 0), before);
}

static void blocks_that_may_wait_for_others_all_run(void **state)
{
    uint64_t before = sample(1000, 0, 0);
    run(count_up);
    assert_int_equal(sample(0, 0, 0), before);
    assert_int_equal(result[0], COUNT);
}

static int prepare(void **state)
{
    CUmodule loaded;
    if (start(state))
        return 1;
    *(void **)&sample = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "lk_driver_sample");
    if (!sample)
        return 1;
    OK(cu->cuModuleGetFunction(&add, module, "add"));
    OK(cu->cuModuleLoadData(&loaded, atomic_ptx));
    OK(cu->cuModuleGetFunction(&count_up, loaded, "count_up"));
    OK(cu->cuModuleLoadData(&loaded, copy_ptx));
    OK(cu->cuModuleGetFunction(&copy_add, loaded, "copy_add"));
    OK(cu->cuMemAlloc_v2(&data, sizeof result));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_stands_for_all),
        cmocka_unit_test(the_rest_runs_once),
        cmocka_unit_test(launches_followed_in_time),
        cmocka_unit_test(small_launches_are_whole),
        cmocka_unit_test(blocks_that_may_wait_for_others_all_run),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
