/*
 * test_api_known.c: what the public calls remember, on a driver that counts its calls and does
 * nothing else (bench/calls/standin.c): a call like one before asks one question, everything new is
 * shown to the driver, and nothing that is gone is used: memory, streams, contexts, modules.
 */
#include "../../bench/calls/standin.h"
#include "api_tools.h"

#include <dlfcn.h>
#include <pthread.h>

enum { N = 1000, SPACE = 1 << 20 };

static const unsigned long *counts;
static unsigned long before[STANDIN_FUNCTIONS];
static float *in, *out;
static void *space;

static int open_standin(void **state)
{
    char self[400], path[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (open_gpu(state) != 0 || length < 0)
        return -1;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    unsetenv("LOCKSTEP_GPU");
    snprintf(path, sizeof path, "%s/../../bench/calls/libcuda.so.1", self);
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    standin_counts_function *get =
        library ? (standin_counts_function *)dlsym(library, STANDIN_COUNTS) : NULL;
    if (!get || lk_open(NULL) != LK_OK)
        return -1;
    counts = get();
    return 0;
}

static void count_from_here(void)
{
    memcpy(before, counts, sizeof before);
}

/* Calls of the driver since count_from_here. */
static unsigned long calls_of(enum standin_function function)
{
    return counts[function] - before[function];
}

static unsigned long all_calls(void)
{
    unsigned long sum = 0;
    for (unsigned i = 0; i < STANDIN_FUNCTIONS; i++)
        sum += calls_of(i);
    return sum;
}

static lk_status sum(void *stream)
{
    return lk_reduce_sum_f32(stream, in, N, out, space, SPACE);
}

/* Which context is current, and a launch. */
static void must_be_warm(void *stream)
{
    count_from_here();
    must(sum(stream));
    assert_int_equal(calls_of(STANDIN_cuLaunchKernel), 1);
    assert_int_equal(all_calls(), 2);
}

/* Each test has memory of its own, and its calls have been made before. */
static int allocate(void **state)
{
    return lk_open(NULL) == LK_OK && lk_malloc((void **)&in, N * sizeof *in) == LK_OK &&
                   lk_malloc((void **)&out, N * sizeof *out) == LK_OK &&
                   lk_malloc(&space, SPACE) == LK_OK && sum(NULL) == LK_OK
               ? 0
               : -1;
}

static int release(void **state)
{
    lk_free(in);
    lk_free(out);
    lk_free(space);
    return 0;
}

static void one_question(void **state)
{
    CUstream stream;
    assert_int_equal(driver()->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    must_be_warm(NULL);
    must(sum(stream));
    must_be_warm(stream);
    must(lk_scale_f32(stream, in, 2, N, out));
    count_from_here();
    must(lk_scale_f32(stream, in, 3, N, out)); /* a scalar changes nothing */
    must(lk_relu_f32(stream, in, N, out));     /* another kernel of a module that is loaded */
    assert_int_equal(all_calls(), 4 + calls_of(STANDIN_cuModuleGetFunction));
    assert_int_equal(driver()->cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

/* Kernels that ask for their occupancy ask once, and for their shared memory too. */
static void questions_about_kernels(void **state)
{
    unsigned *bins;
    must(lk_malloc((void **)&bins, 256 * sizeof *bins));
    must(lk_histogram_f32(NULL, in, N, 256, bins, space, SPACE));
    count_from_here();
    must(lk_histogram_f32(NULL, in, N, 256, bins, space, SPACE));
    assert_int_equal(all_calls(),
                     1 + calls_of(STANDIN_cuLaunchKernel) + calls_of(STANDIN_cuMemsetD8Async));
    must(lk_free(bins));
}

static void new_buffers_are_shown(void **state)
{
    float *other;
    must(lk_malloc((void **)&other, N * sizeof *other));
    count_from_here();
    must(lk_relu_f32(NULL, in, N, other));
    assert_int_equal(calls_of(STANDIN_cuPointerGetAttribute), 2);
    count_from_here();
    must(lk_relu_f32(NULL, in, N / 2, other));
    assert_int_equal(calls_of(STANDIN_cuPointerGetAttribute), 0);
    must_fail(lk_relu_f32(NULL, in, N + 1, other), LK_BAD_ARGUMENT, "x (");
    must_fail(lk_relu_f32(NULL, in, N, (float *)64), LK_BAD_ARGUMENT, "is not memory");
    must(lk_free(other));
    must_fail(lk_relu_f32(NULL, in, N, other), LK_BAD_ARGUMENT, "is not memory");
}

/* The same address twice; the second allocation is shorter. */
static void a_buffer_that_was_freed(void **state)
{
    CUdeviceptr again;
    assert_int_equal(driver()->cuMemFree_v2((CUdeviceptr)(uintptr_t)out), CUDA_SUCCESS);
    assert_int_equal(driver()->cuMemAlloc_v2(&again, 4), CUDA_SUCCESS);
    assert_ptr_equal((void *)(uintptr_t)again, out);
    must_be_warm(NULL);
    must_fail(lk_relu_f32(NULL, in, N + 1, out), LK_BAD_ARGUMENT, "fewer than");
    must(lk_free(out)); /* now everything is asked again */
    must(lk_malloc((void **)&out, 4));
    must_fail(lk_relu_f32(NULL, in, N, out), LK_BAD_ARGUMENT, "out (");
}

static void a_stream_that_was_destroyed(void **state)
{
    CUstream stream, again;
    CUcontext first, second;
    assert_int_equal(driver()->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    must(sum(stream));
    assert_int_equal(driver()->cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    must_fail(sum(stream), LK_BAD_ARGUMENT, "is not a stream");
    assert_int_equal(driver()->cuStreamCreate(&again, 0), CUDA_SUCCESS);
    assert_ptr_equal(stream, again);
    must(sum(stream));
    must_be_warm(stream);
    assert_int_equal(driver()->cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxGetCurrent(&first), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamCreate(&again, 0), CUDA_SUCCESS);
    assert_ptr_equal(stream, again);
    assert_int_equal(driver()->cuCtxSetCurrent(first), CUDA_SUCCESS);
    count_from_here();
    must_fail(sum(stream), LK_BAD_ARGUMENT, "belongs to another context");
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 0);
    assert_int_equal(driver()->cuStreamDestroy_v2(again), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxDestroy_v2(second), CUDA_SUCCESS);
    must(sum(NULL));
}

static void contexts_in_turn(void **state)
{
    CUcontext first, second;
    assert_int_equal(driver()->cuCtxGetCurrent(&first), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    count_from_here();
    must(sum(NULL)); /* what the first context has, the second does not */
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 1);
    assert_int_equal(calls_of(STANDIN_cuPointerGetAttribute), 6);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(driver()->cuCtxSetCurrent(first), CUDA_SUCCESS);
        must_be_warm(NULL);
        assert_int_equal(driver()->cuCtxSetCurrent(second), CUDA_SUCCESS);
        must_be_warm(NULL);
    }
    /* A new context at the old one's address */
    CUcontext third;
    assert_int_equal(driver()->cuCtxDestroy_v2(second), CUDA_SUCCESS);
    must_fail(sum(NULL), LK_NO_GPU, "no context is current");
    assert_int_equal(driver()->cuCtxCreate_v2(&third, 0, 0), CUDA_SUCCESS);
    assert_ptr_equal(second, third);
    count_from_here();
    must(sum(NULL));
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 1);
    assert_int_equal(calls_of(STANDIN_cuPointerGetAttribute), 6);
    assert_int_equal(driver()->cuCtxDestroy_v2(third), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxSetCurrent(first), CUDA_SUCCESS);
    must(sum(NULL));
    must_be_warm(NULL);
}

/* The context keeps its handle and its id; modules and memory are gone. */
static void a_reset(void **state)
{
    assert_int_equal(driver()->cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    must_fail(sum(NULL), LK_BAD_ARGUMENT, "is not memory");
    assert_int_equal(allocate(state), 0);
    must(sum(NULL)); /* asks everything again, once */
    must_be_warm(NULL);
    count_from_here();
    assert_int_equal(driver()->cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    CUdeviceptr address;
    for (int i = 0; i < 3; i++) /* the same addresses again */
        assert_int_equal(driver()->cuMemAlloc_v2(&address, SPACE), CUDA_SUCCESS);
    must(sum(NULL));
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 1);
    must(sum(NULL));
    must_be_warm(NULL);
}

static void unloading(void **state)
{
    must(lk_unload());
    count_from_here();
    must(sum(NULL));
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 1);
    must_be_warm(NULL);
}

static void determinism(void **state)
{
    lk_set_deterministic(1);
    must(sum(NULL));
    must_be_warm(NULL);
    lk_set_deterministic(0);
    must_be_warm(NULL);
}

/* More problems and buffers than are remembered: slower, and right. */
static void more_than_there_is_room_for(void **state)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 900; i++)
            must(lk_relu_f32(NULL, in + i, N - i, out + i));
    must_fail(lk_relu_f32(NULL, in + 1, N, out), LK_BAD_ARGUMENT, "fewer than");
    must(sum(NULL));
    must_be_warm(NULL);
}

/* Threads */

static pthread_barrier_t barrier;

static void *work(void *argument)
{
    int *wrong = argument;
    *wrong += lk_open(NULL) != LK_OK;
    for (int i = 0; i < 200; i++)
        *wrong += sum(NULL) != LK_OK;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* the context was reset in between */
    for (int i = 0; i < 200; i++)
        *wrong += sum(NULL) != LK_OK;
    *wrong += lk_relu_f32(NULL, in, N, (float *)64) != LK_BAD_ARGUMENT;
    return NULL;
}

/* All find their modules gone at once; one of them loads them again. */
static void threads(void **state)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0};
    CUdeviceptr address;
    assert_int_equal(driver()->cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    assert_int_equal(allocate(state), 0);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &wrong[i]), 0);
    pthread_barrier_wait(&barrier);
    assert_int_equal(driver()->cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(driver()->cuMemAlloc_v2(&address, SPACE), CUDA_SUCCESS);
    count_from_here();
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    pthread_barrier_destroy(&barrier);
    assert_int_equal(calls_of(STANDIN_cuModuleLoadDataEx), 1);
    must(sum(NULL));
    must_be_warm(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, allocate, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_question),
        TEST(questions_about_kernels),
        TEST(new_buffers_are_shown),
        TEST(a_buffer_that_was_freed),
        TEST(a_stream_that_was_destroyed),
        TEST(contexts_in_turn),
        TEST(a_reset),
        TEST(unloading),
        TEST(determinism),
        TEST(more_than_there_is_room_for),
        TEST(threads),
    };
    return cmocka_run_group_tests(tests, open_standin, close_gpu);
}
