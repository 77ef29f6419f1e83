/*
 * test_ipc.c: memory of one process in another: by the handles of cuIpcGetMemHandle and by pools.
 * The child is this program again, before the driver is used; it gets what it needs through a
 * socket.
 */
#include "driver/common.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 5000, BIG = 3 << 20 };

struct message {
    CUipcMemHandle small, big;
    CUmemPoolPtrExportData pooled, of_another;
};

static int sockets[2];
static pid_t child;

/* A message, and a descriptor beside it; -1 if none came. */
static int exchange(struct message *message, int file, bool sends)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = {0};
    struct iovec bytes = {message, sizeof *message};
    struct msghdr envelope = {.msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = room.bytes,
                              .msg_controllen = sizeof room.bytes};
    if (!sends) {
        if (recvmsg(sockets[1], &envelope, 0) != (ssize_t)sizeof *message ||
            !CMSG_FIRSTHDR(&envelope))
            return -1;
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&envelope)), sizeof file);
        return file;
    }
    struct cmsghdr *part = CMSG_FIRSTHDR(&envelope);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &file, sizeof file);
    return sendmsg(sockets[0], &envelope, 0) == (ssize_t)sizeof *message ? 0 : -1;
}

#define DO(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            return __LINE__ % 250 + 1;                                                             \
    } while (0)

/* Handles whose offset or size (words 1 and 2) is not the exporter's: nothing is mapped. */
static int open_forged(const CUipcMemHandle *handle)
{
    static const uint64_t forged[][2] = {
        {1, UINT64_MAX}, {1, UINT64_MAX - 4095}, {1, UINT64_C(1) << 40}, {2, 0},
        {2, UINT64_MAX}, {2, UINT64_MAX - 4095}, {2, UINT64_C(1) << 40},
    };
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        CUipcMemHandle other = *handle;
        CUdeviceptr at;
        memcpy((char *)&other + 8 * forged[i][0], &forged[i][1], 8);
        DO(cu->cuIpcOpenMemHandle_v2(&at, other, 1) != CUDA_ERROR_INVALID_VALUE);
    }
    return 0;
}

/* The child adds 1 to each of the three; its exit status is 0. */
static int add_to_all(void)
{
    struct message message;
    CUmemoryPool pool;
    CUdeviceptr small, again, big, pooled, none;
    int file = exchange(&message, -1, false);
    if (file < 0) /* the parent did not come so far */
        return 0;
    DO(start(NULL));
    DO(open_forged(&message.small));
    DO(cu->cuIpcOpenMemHandle_v2(&small, message.small, 1));
    DO(cu->cuIpcOpenMemHandle_v2(&again, message.small, 1));
    DO(again != small); /* it is counted */
    DO(cu->cuIpcOpenMemHandle_v2(&big, message.big, 1));
    DO(cu->cuCtxSetCurrent(NULL)); /* the next needs no context */
    DO(cu->cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)file,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DO(cu->cuCtxSetCurrent(context));
    DO(cu->cuMemPoolImportPointer(&pooled, pool, &message.pooled));
    DO(cu->cuMemPoolExportPointer(&message.pooled, pooled)); /* passed on: the same bytes */
    DO(cu->cuMemPoolImportPointer(&again, pool, &message.pooled));
    DO(cu->cuMemFree_v2(again));
    DO(cu->cuMemPoolImportPointer(&none, pool, &message.of_another) != CUDA_ERROR_INVALID_VALUE);
    DO(cu->cuMemAllocFromPoolAsync(&none, 64, pool, NULL) != CUDA_ERROR_INVALID_VALUE);
    DO(launch_add(small, N, 1, NULL));
    DO(launch_add(big, BIG / 4, 1, NULL));
    DO(launch_add(pooled, N, 1, NULL));
    DO(cu->cuCtxSynchronize());
    int last;
    DO(cu->cuMemcpyDtoH_v2(&last, small + 4 * N, 4) != CUDA_ERROR_INVALID_VALUE); /* behind it */
    DO(cu->cuIpcCloseMemHandle(small));
    DO(cu->cuMemcpyDtoH_v2(&last, small + 4 * N - 4, 4));
    DO(last != 12);
    DO(cu->cuIpcCloseMemHandle(small));
    DO(cu->cuMemcpyDtoH_v2(&last, small, 4) != CUDA_ERROR_INVALID_VALUE);
    DO(cu->cuIpcCloseMemHandle(small) != CUDA_ERROR_INVALID_VALUE);
    DO(cu->cuIpcCloseMemHandle(big));
    DO(cu->cuMemFreeAsync(pooled, NULL));
    DO(cu->cuCtxSynchronize());
    DO(cu->cuMemPoolDestroy(pool));
    return 0;
}

static void others_see_it(void **state)
{
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool, other;
    CUdeviceptr of_other;
    CUdeviceptr before = zeros(7), small = zeros(N), after = zeros(7), big = zeros(BIG / 4), pooled;
    struct message message;
    int file, status;
    OK(cu->cuMemPoolCreate(&pool, &properties));
    OK(cu->cuMemPoolCreate(&other, &properties));
    OK(cu->cuMemAllocFromPoolAsync(&pooled, 4 * N, pool, NULL));
    OK(cu->cuMemAllocFromPoolAsync(&of_other, 4 * N, other, NULL));
    OK(cu->cuMemsetD32_v2(before, 3, 7)); /* on the same pages as what is shared */
    OK(cu->cuMemsetD32_v2(after, 4, 7));
    OK(cu->cuMemsetD32_v2(small, 11, N));
    OK(cu->cuMemsetD32_v2(big, 21, BIG / 4));
    OK(cu->cuMemsetD32_v2(pooled, 31, N));
    OK(cu->cuIpcGetMemHandle(&message.small, small));
    OK(cu->cuIpcGetMemHandle(&message.big, big));
    OK(cu->cuMemPoolExportPointer(&message.pooled, pooled));
    OK(cu->cuMemPoolExportPointer(&message.of_another, of_other));
    OK(cu->cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                            0));
    expect_all(before, 7, 3);
    expect_all(small, N, 11);
    assert_int_equal(exchange(&message, file, true), 0);
    close(file);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_all(small, N, 12);
    expect_all(big, BIG / 4, 22);
    expect_all(pooled, N, 32);
    expect_all(before, 7, 3);
    expect_all(after, 7, 4);
    OK(cu->cuMemFree_v2(big));
    big = zeros(BIG / 4); /* the same addresses, perhaps */
    expect_all(big, BIG / 4, 0);
    OK(cu->cuMemFreeAsync(pooled, NULL));
    OK(cu->cuMemFreeAsync(of_other, NULL));
    OK(cu->cuMemPoolDestroy(pool));
    OK(cu->cuMemPoolDestroy(other));
    OK(cu->cuMemFree_v2(before));
    OK(cu->cuMemFree_v2(small));
    OK(cu->cuMemFree_v2(after));
    OK(cu->cuMemFree_v2(big));
}

static void wrong_arguments(void **state)
{
    CUipcMemHandle handle = {{0}};
    CUmemPoolPtrExportData data = {{0}};
    CUdeviceptr plain = zeros(4), at, host;
    CUmemoryPool pool;
    int file;
    OK(cu->cuMemAllocHost_v2((void **)&host, 64));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuIpcGetMemHandle(NULL, plain));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuIpcGetMemHandle(&handle, host));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuIpcOpenMemHandle_v2(&at, handle, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuIpcCloseMemHandle(plain));
    OK(cu->cuIpcGetMemHandle(&handle, plain));
    if (cu->simulated)
        FAILS(CUDA_ERROR_INVALID_CONTEXT, cu->cuIpcOpenMemHandle_v2(&at, handle, 1)); /* our own */
    OK(cu->cuDeviceGetDefaultMemPool(&pool, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolExportToShareableHandle(
                                        &file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolExportPointer(&data, plain));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolImportPointer(&at, pool, &data));
    OK(cu->cuMemFree_v2(plain));
    OK(cu->cuMemFreeHost((void *)(uintptr_t)host));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_see_it),
        cmocka_unit_test(wrong_arguments),
    };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        return 1;
    child = fork();
    if (child == 0) {
        close(sockets[0]);
        _exit(add_to_all());
    }
    close(sockets[1]);
    return cmocka_run_group_tests(tests, start, NULL);
}
