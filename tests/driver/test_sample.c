/*
 * test_sample.c: timed launches that end after a part of their blocks (lk_driver_sample): their
 * time is that of the whole grid, launches are whole again afterwards, and kernels whose blocks may
 * wait for each other are always whole.
 */
#include "driver/common.h"

#include <dlfcn.h>

enum { BLOCKS = 1003, THREADS = 256, COUNT = BLOCKS * THREADS };

static uint64_t (*sample)(uint64_t instructions);
static CUfunction add, count_up;
static CUdeviceptr data;
static int result[COUNT];

static const char atomic_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry count_up(.param .u64 data)\n{\n .reg .b64 %rd; .reg .b32 %r;\n"
    " ld.param.u64 %rd, [data]; mov.u32 %r, 1; red.global.add.u32 [%rd], %r;\n ret;\n}\n";

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
    uint64_t before = sample(10000);
    float part = run(add);
    assert_int_equal(sample(0), before + 1);
    assert_true(sum() > 0 && sum() < COUNT / 4);
    assert_true(part > 0.9f * whole && part < 1.1f * whole);
    assert_true(run(add) == whole);
    assert_int_equal(sum(), COUNT);
}

/* Also those of rows that do not divide by four. */
static void small_launches_are_whole(void **state)
{
    uint64_t before = sample(100000000);
    run(add);
    assert_int_equal(sum(), COUNT);
    assert_int_equal(sample(0), before);
}

static void blocks_that_may_wait_for_others_all_run(void **state)
{
    uint64_t before = sample(1000);
    run(count_up);
    assert_int_equal(sample(0), before);
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
    OK(cu->cuMemAlloc_v2(&data, sizeof result));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_stands_for_all),
        cmocka_unit_test(small_launches_are_whole),
        cmocka_unit_test(blocks_that_may_wait_for_others_all_run),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
