/*
 * test_library_time.c: work that a client does by itself and hands its time to the driver
 * (lk_library_time): what events around it see, its order with kernels, and the host's side of it.
 */
#include "driver/common.h"
#include "driver/library_call.h"

#include <dlfcn.h>

static CUresult (*time_of)(CUstream stream, const char *name, double operations, double bytes,
                           enum lk_library_unit unit);
static CUresult (*settle)(void);
static void (*end)(void *pointer);
static void *(*ended)(void);
static CUevent first, last;

static double microseconds(void)
{
    float ms;
    OK(cu->cuEventSynchronize(last));
    OK(cu->cuEventElapsedTime_v2(&ms, first, last));
    return 1e3 * ms;
}

/* Of one call. */
static double taken(double operations, double bytes, enum lk_library_unit unit)
{
    OK(cu->cuEventRecord(first, NULL));
    OK(time_of(NULL, "work", operations, bytes, unit));
    OK(cu->cuEventRecord(last, NULL));
    return microseconds();
}

static bool is_near(double value, double wanted)
{
    return value > 0.95 * wanted && value < 1.05 * wanted;
}

static void by_roofline(void **state)
{
    (void)state;
    double least = taken(0, 1, LK_UNIT_F32);
    double memory = taken(0, 4e9, LK_UNIT_F32) - least;
    double work = taken(1e12, 4, LK_UNIT_F32) - least;
    assert_true(least > 1 && least < 5);
    assert_true(is_near(taken(0, 8e9, LK_UNIT_F32) - least, 2 * memory));
    assert_true(is_near(taken(2e12, 4, LK_UNIT_F32) - least, 2 * work));
    assert_true(is_near(taken(1e12, 4e9, LK_UNIT_F32) - least, work > memory ? work : memory));
    assert_true(taken(1e12, 4, LK_UNIT_TENSOR_F16) < work / 5);
    double to = taken(0, 1e9, LK_UNIT_TO_DEVICE), from = taken(0, 1e9, LK_UNIT_FROM_DEVICE);
    assert_true(to > 10 * (memory / 4) && is_near(to, from));
}

/* Two streams: the host issues both, although this work is done when the call returns. */
static void the_host_does_not_wait(void **state)
{
    (void)state;
    CUstream one, other;
    CUevent there;
    double each = taken(0, 4e9, LK_UNIT_TO_DEVICE);
    OK(cu->cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&there, 0));
    OK(cu->cuEventRecord(first, one));
    OK(time_of(one, "to", 0, 4e9, LK_UNIT_TO_DEVICE));
    OK(settle());
    OK(time_of(other, "from", 0, 4e9, LK_UNIT_FROM_DEVICE));
    OK(cu->cuEventRecord(there, other));
    OK(cu->cuStreamWaitEvent(one, there, 0));
    OK(cu->cuEventRecord(last, one));
    assert_true(is_near(microseconds(), each));
    OK(cu->cuEventRecord(first, one));
    OK(time_of(one, "to", 0, 4e9, LK_UNIT_TO_DEVICE));
    OK(cu->cuStreamSynchronize(one)); /* here it does */
    OK(time_of(other, "from", 0, 4e9, LK_UNIT_FROM_DEVICE));
    OK(cu->cuEventRecord(last, other));
    assert_true(is_near(microseconds(), 2 * each));
    OK(cu->cuEventDestroy(there));
    OK(cu->cuStreamDestroy_v2(one));
    OK(cu->cuStreamDestroy_v2(other));
}

static void owners_are_told_later(void **state)
{
    int x, y;
    (void)state;
    assert_null(ended());
    end(&x);
    end(&y);
    assert_ptr_equal(ended(), &x);
    assert_ptr_equal(ended(), &y);
    assert_null(ended());
}

static int prepare(void **state)
{
    if (start(state))
        return 1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&time_of = dlsym(library, "lk_library_time");
    *(void **)&settle = dlsym(library, "lk_library_settle");
    *(void **)&end = dlsym(library, "lk_library_end");
    *(void **)&ended = dlsym(library, "lk_library_ended");
    OK(cu->cuEventCreate(&first, 0));
    OK(cu->cuEventCreate(&last, 0));
    return !time_of || !settle || !end || !ended;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_roofline),
        cmocka_unit_test(the_host_does_not_wait),
        cmocka_unit_test(owners_are_told_later),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
