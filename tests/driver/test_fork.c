/*
 * test_fork.c: a process forks while a kernel runs and while other threads are in the driver: the
 * child's calls fail, it can exit, and the parent goes on.
 */
#include "driver/common.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's exit status: the number of the first call that does not do what it must. */
static int calls_fail(CUdeviceptr data, CUstream stream)
{
    CUdeviceptr address;
    CUcontext current;
    CUdevice device;
    const char *name;
    size_t free_bytes, total;
    int count, value;
    const CUresult gone = CUDA_ERROR_NOT_INITIALIZED;
    int failures[] = {
        cu->cuInit(0) != gone,
        cu->cuDeviceGetCount(&count) != gone,
        cu->cuDeviceGet(&device, 0) != gone,
        cu->cuCtxGetCurrent(&current) != gone,
        cu->cuMemAlloc_v2(&address, 1024) != gone,
        cu->cuMemGetInfo_v2(&free_bytes, &total) != gone,
        cu->cuMemcpyDtoH_v2(&value, data, 4) != gone,
        cu->cuStreamQuery(stream) != gone,
        cu->cuStreamSynchronize(stream) != gone,
        cu->cuCtxSynchronize() != gone,
        cu->cuMemFree_v2(data) != gone,
        cu->cuDriverGetVersion(&value) != CUDA_SUCCESS,
        cu->cuGetErrorName(gone, &name) != CUDA_SUCCESS,
        strcmp(name, "CUDA_ERROR_NOT_INITIALIZED") != 0,
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i])
            return (int)i + 1;
    return 0;
}

/* Ends the child if it hangs, by a signal. */
static void expect_exit(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child was ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void child_exits_while_a_kernel_runs(void **state)
{
    int *flag;
    CUdeviceptr address, data = zeros(100);
    CUstream stream;
    OK(cu->cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu->cuMemHostGetDevicePointer_v2(&address, flag, 0));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    *flag = 0;
    void *params[] = {&address};
    OK(cu->cuLaunchKernel(function("wait"), 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    for (int i = 0; i < 2; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            int status = i == 0 ? calls_fail(data, stream) : 0;
            exit(status); /* what was registered with atexit runs */
        }
        expect_exit(child);
    }
    FAILS(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(stream));
    *(volatile int *)flag = 1;
    OK(cu->cuStreamSynchronize(stream));
    OK(launch_add(data, 100, 3, stream));
    OK(cu->cuStreamSynchronize(stream));
    expect_all(data, 100, 3);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFreeHost(flag));
    OK(cu->cuMemFree_v2(data));
}

static atomic_bool busy_stop;

static void *busy(void *argument)
{
    OK(cu->cuCtxSetCurrent(context));
    CUdeviceptr data;
    while (!busy_stop) {
        OK(cu->cuMemAlloc_v2(&data, 4096));
        OK(cu->cuMemsetD32_v2(data, 1, 1024));
        OK(cu->cuMemFree_v2(data));
    }
    return NULL;
}

static void child_exits_while_threads_hold_locks(void **state)
{
    pthread_t threads[3];
    busy_stop = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, busy, NULL), 0);
    for (int i = 0; i < 50; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            CUdeviceptr data;
            exit(cu->cuMemAlloc_v2(&data, 4) != CUDA_ERROR_NOT_INITIALIZED);
        }
        expect_exit(child);
    }
    busy_stop = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_exits_while_a_kernel_runs),
        cmocka_unit_test(child_exits_while_threads_hold_locks),
    };
    return cmocka_run_group_tests_name("fork", tests, start, NULL);
}
