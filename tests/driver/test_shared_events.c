/*
 * test_shared_events.c: an event of one process in another: waiting for it, recording it there, and
 * handles that are none. The child is this program again, before the driver is used.
 */
#include "driver/common.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    CUipcEventHandle event;
    CUipcMemHandle memory;
};

static int sockets[2];
static pid_t child;

#define DO(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            return __LINE__ % 250 + 1;                                                             \
    } while (0)

/* Handles that lead to another file, or to none. */
static int open_forged(const CUipcEventHandle *handle)
{
    CUevent event;
    int plain = open("/dev/zero", O_RDWR), file;
    CUipcEventHandle other = *handle;
    for (file = -1; file < 40; file++) { /* of the parent, and of this process */
        memcpy((char *)&other + 12, &file, sizeof file);
        if (memcmp(&other, handle, sizeof other) == 0)
            continue;
        CUresult status = cu->cuIpcOpenEventHandle(&event, other);
        DO(status != CUDA_ERROR_MAP_FAILED);
    }
    close(plain);
    return 0;
}

static int other_process(void)
{
    struct message message;
    CUevent event;
    CUdeviceptr data;
    CUstream stream;
    int value = 0;
    if (read(sockets[1], &message, sizeof message) != (ssize_t)sizeof message)
        return 0; /* the parent did not come so far */
    DO(start(NULL));
    DO(open_forged(&message.event));
    DO(cu->cuIpcOpenEventHandle(&event, message.event));
    DO(cu->cuIpcOpenMemHandle_v2(&data, message.memory, 1));
    DO(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu->cuEventQuery(event) != CUDA_ERROR_NOT_READY); /* the parent's kernel waits for us */
    DO(cu->cuStreamWaitEvent(stream, event, 0));
    DO(cu->cuStreamQuery(stream) != CUDA_ERROR_NOT_READY);
    DO(write(sockets[1], "", 1) != 1); /* now it may go on */
    DO(cu->cuStreamSynchronize(stream));
    DO(cu->cuMemcpyDtoH_v2(&value, data, 4));
    DO(value != 5);
    DO(cu->cuEventSynchronize(event));
    DO(cu->cuEventQuery(event));
    DO(launch_add(data, 1, 10, stream));
    DO(cu->cuEventRecord(event, stream));
    DO(cu->cuIpcGetEventHandle(&message.event, event) != CUDA_ERROR_INVALID_HANDLE);
    DO(cu->cuEventDestroy_v2(event));
    DO(cu->cuStreamSynchronize(stream));
    return 0;
}

static void others_wait_for_it(void **state)
{
    CUevent event;
    CUdeviceptr data = zeros(1);
    CUstream stream;
    int *flag, status, value;
    struct message message;
    char byte;
    OK(cu->cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAllocHost_v2((void **)&flag, 4));
    *(volatile int *)flag = 0;
    OK(cu->cuIpcGetEventHandle(&message.event, event));
    OK(cu->cuIpcGetMemHandle(&message.memory, data));
    void *params[] = {&flag};
    OK(cu->cuLaunchKernel(function("wait"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(launch_add(data, 1, 5, stream));
    OK(cu->cuEventRecord(event, stream));
    FAILS(CUDA_ERROR_NOT_READY, cu->cuEventQuery(event));
    assert_int_equal(write(sockets[0], &message, sizeof message), sizeof message);
    assert_int_equal(read(sockets[0], &byte, 1), 1);
    *(volatile int *)flag = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    OK(cu->cuEventSynchronize(event)); /* what the child recorded last */
    OK(cu->cuMemcpyDtoH_v2(&value, data, 4));
    assert_int_equal(value, 15);
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFreeHost(flag));
    OK(cu->cuMemFree_v2(data));
}

static void wrong_arguments(void **state)
{
    CUevent event, shared;
    CUipcEventHandle handle = {{0}};
    CUgraph graph;
    CUgraphNode node;
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    OK(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuIpcGetEventHandle(&handle, event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuIpcGetEventHandle(&handle, NULL));
    FAILS(CUDA_ERROR_MAP_FAILED, cu->cuIpcOpenEventHandle(&event, handle));
    OK(cu->cuIpcGetEventHandle(&handle, shared));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cu->cuIpcOpenEventHandle(&event, handle)); /* our own */
    if (cu->simulated) {
        OK(cu->cuGraphCreate(&graph, 0));
        FAILS(CUDA_ERROR_NOT_SUPPORTED,
              cu->cuGraphAddEventRecordNode(&node, graph, NULL, 0, shared));
        OK(cu->cuGraphDestroy(graph));
    }
    OK(cu->cuEventDestroy_v2(shared));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cu->cuIpcGetEventHandle(&handle, shared));
    OK(cu->cuEventDestroy_v2(event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_wait_for_it),
        cmocka_unit_test(wrong_arguments),
    };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        return 1;
    child = fork();
    if (child == 0) {
        close(sockets[0]);
        _exit(other_process());
    }
    close(sockets[1]);
    return cmocka_run_group_tests(tests, start, NULL);
}
