/*
 * test_virtual.c: virtual memory management: addresses, physical memory and mappings each by
 * themselves and together, what kernels, copies and the host may touch, and wrong arguments. With
 * two devices, and with another process, which gets memory by a file descriptor.
 */
#include "driver/common.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNIT = 2 << 20, INTS = UNIT / 4 };

static const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc may_write = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                          CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                             may_read = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                         CU_MEM_ACCESS_FLAGS_PROT_READ},
                             may_nothing = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                            CU_MEM_ACCESS_FLAGS_PROT_NONE};

static CUdeviceptr reserve(size_t size)
{
    CUdeviceptr at;
    OK(cu->cuMemAddressReserve(&at, size, 0, 0, 0));
    return at;
}

static CUmemGenericAllocationHandle create(size_t size)
{
    CUmemGenericAllocationHandle handle;
    OK(cu->cuMemCreate(&handle, size, &on_device, 0));
    return handle;
}

static size_t free_now(void)
{
    size_t there, all;
    OK(cu->cuMemGetInfo_v2(&there, &all));
    return there;
}

/* After a kernel's fault. */
static void begin_again(void)
{
    OK(cu->cuDevicePrimaryCtxReset_v2(0));
    OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuModuleLoadData(&module, kernels_ptx));
}

static void says_so(void **state)
{
    int supported;
    size_t unit;
    OK(cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                0));
    assert_int_equal(supported, 1);
    OK(cu->cuMemGetAllocationGranularity(&unit, &on_device, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_int_equal(unit, UNIT);
    OK(cu->cuMemGetAllocationGranularity(&unit, &on_device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    assert_int_equal(unit, UNIT);
}

/* Three pieces in a row: copies, memsets and kernels see one range. */
static void pieces_are_one_range(void **state)
{
    size_t before = free_now();
    CUdeviceptr at = reserve(8 * (size_t)UNIT);
    assert_int_equal(at % UNIT, 0);
    assert_int_equal(free_now(), before); /* addresses are not memory */
    for (int i = 0; i < 3; i++) {
        CUmemGenericAllocationHandle piece = create(UNIT);
        OK(cu->cuMemMap(at + (CUdeviceptr)i * UNIT, UNIT, 0, piece, 0));
        OK(cu->cuMemRelease(piece)); /* the mapping keeps it */
    }
    OK(cu->cuMemSetAccess(at, 3 * UNIT, &may_write, 1));
    assert_int_equal(free_now(), before - 3 * UNIT);
    OK(cu->cuMemsetD32_v2(at, 5, 3 * INTS));
    OK(launch_add(at, 3 * INTS, 6, NULL));
    expect_all(at, 3 * INTS, 11);
    OK(cu->cuMemsetD32_v2(at + UNIT - 8, 1, 4)); /* across a border */
    int host[4] = {0};
    OK(cu->cuMemcpyDtoH_v2(host, at + UNIT - 8, sizeof host));
    assert_int_equal(host[0] + host[1] + host[2] + host[3], 4);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(at, 0, 3 * UNIT + 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(host, at + 3 * UNIT - 8, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(at));

    OK(cu->cuMemUnmap(at + UNIT, UNIT)); /* a hole */
    assert_int_equal(free_now(), before - 2 * UNIT);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(host, at + UNIT - 8, 16));
    OK(cu->cuMemcpyDtoH_v2(host, at + 2 * UNIT, 16));
    CUmemGenericAllocationHandle fresh = create(UNIT);
    OK(cu->cuMemMap(at + UNIT, UNIT, 0, fresh, 0));
    OK(cu->cuMemSetAccess(at + UNIT, UNIT, &may_write, 1));
    OK(cu->cuMemcpyDtoH_v2(host, at + UNIT - 8, 16));
    assert_true(host[0] == 1 && host[2] == 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemAddressFree(at, 8 * (size_t)UNIT));
    OK(cu->cuMemUnmap(at, 3 * UNIT));
    OK(cu->cuMemRelease(fresh));
    OK(cu->cuMemAddressFree(at, 8 * (size_t)UNIT));
    assert_int_equal(free_now(), before);
}

/* The same memory at two addresses, and at a third when it has left the first. */
static void memory_moves(void **state)
{
    CUdeviceptr a = reserve(UNIT), b = reserve(UNIT), c = reserve(UNIT);
    CUmemGenericAllocationHandle handle = create(UNIT), again;
    OK(cu->cuMemMap(a, UNIT, 0, handle, 0));
    OK(cu->cuMemMap(b, UNIT, 0, handle, 0));
    OK(cu->cuMemSetAccess(a, UNIT, &may_write, 1));
    OK(cu->cuMemSetAccess(b, UNIT, &may_write, 1));
    OK(cu->cuMemsetD32_v2(a, 3, INTS));
    OK(launch_add(b, INTS, 1, NULL));
    expect_all(a, INTS, 4);
    OK(cu->cuMemUnmap(a, UNIT));
    OK(cu->cuMemMap(c, UNIT, 0, handle, 0));
    OK(cu->cuMemSetAccess(c, UNIT, &may_write, 1));
    expect_all(c, INTS, 4);
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(b + 100)));
    assert_true(again == handle);
    OK(cu->cuMemUnmap(b, UNIT));
    OK(cu->cuMemUnmap(c, UNIT));
    OK(cu->cuMemMap(a, UNIT, 0, again, 0)); /* the handle still has it */
    OK(cu->cuMemSetAccess(a, UNIT, &may_write, 1));
    expect_all(a, INTS, 4);
    OK(cu->cuMemUnmap(a, UNIT));
    OK(cu->cuMemRelease(again));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemRelease(again));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemMap(a, UNIT, 0, again, 0));
    OK(cu->cuMemAddressFree(a, UNIT));
    OK(cu->cuMemAddressFree(b, UNIT));
    OK(cu->cuMemAddressFree(c, UNIT));
}

/* How a vector grows in place: the addresses behind its own, if they are free. */
static void addresses_can_be_wanted(void **state)
{
    CUdeviceptr at = reserve(UNIT), behind, other;
    OK(cu->cuMemAddressReserve(&behind, UNIT, 0, at + UNIT, 0));
    assert_true(behind == at + UNIT);
    OK(cu->cuMemAddressReserve(&other, UNIT, 0, at + UNIT, 0)); /* taken: it is but a wish */
    assert_true(other != behind && other % UNIT == 0);
    CUdeviceptr plain = zeros(INTS);
    assert_true(plain >= other + UNIT || plain + UNIT <= at);
    OK(cu->cuMemFree_v2(plain));
    OK(cu->cuMemAddressFree(other, UNIT));
    OK(cu->cuMemAddressReserve(&other, UNIT, (size_t)1 << 30, 0, 0));
    assert_int_equal(other % (1 << 30), 0);
    OK(cu->cuMemAddressFree(other, UNIT));
    OK(cu->cuMemAddressFree(behind, UNIT));
    OK(cu->cuMemAddressFree(at, UNIT));
    OK(cu->cuMemAddressReserve(&at, 4096, 0, 0, 0)); /* pages are enough for addresses */
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemAddressFree(at, UNIT));
    OK(cu->cuMemAddressFree(at, 4096));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAddressReserve(&at, (size_t)1 << 45, 0, 0, 0));
}

static void wrong_arguments(void **state)
{
    const CUresult wrong = CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr at = reserve(4 * UNIT), none;
    CUmemGenericAllocationHandle handle = create(2 * UNIT), bad;
    CUmemAllocationProp properties = on_device;
    CUmemAccessDesc access = may_write;
    size_t unit;
    FAILS(wrong, cu->cuMemAddressReserve(NULL, UNIT, 0, 0, 0));
    FAILS(wrong, cu->cuMemAddressReserve(&none, 0, 0, 0, 0));
    FAILS(wrong, cu->cuMemAddressReserve(&none, 100, 0, 0, 0));
    FAILS(wrong, cu->cuMemAddressReserve(&none, UNIT, 3 * UNIT, 0, 0));
    FAILS(wrong, cu->cuMemAddressReserve(&none, UNIT, 0, 0, 1));
    FAILS(wrong, cu->cuMemAddressFree(at, UNIT));
    FAILS(wrong, cu->cuMemAddressFree(at + UNIT, UNIT));
    FAILS(wrong, cu->cuMemCreate(&bad, UNIT + 4096, &on_device, 0));
    FAILS(wrong, cu->cuMemCreate(&bad, 0, &on_device, 0));
    FAILS(wrong, cu->cuMemCreate(&bad, UNIT, NULL, 0));
    FAILS(wrong, cu->cuMemCreate(&bad, UNIT, &on_device, 1));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemCreate(&bad, (size_t)1 << 45, &on_device, 0));
    properties.location.id = 99;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cu->cuMemCreate(&bad, UNIT, &properties, 0));
    properties.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    FAILS(wrong, cu->cuMemCreate(&bad, UNIT, &properties, 0));
    FAILS(wrong, cu->cuMemGetAllocationGranularity(&unit, &properties, 0));
    FAILS(wrong, cu->cuMemMap(at, UNIT, UNIT, handle, 0)); /* no offsets yet, says CUDA */
    FAILS(wrong, cu->cuMemMap(at, 2 * UNIT, 0, handle, 1));
    FAILS(wrong, cu->cuMemMap(at, 3 * UNIT, 0, handle, 0));
    FAILS(wrong, cu->cuMemMap(at + 4096, UNIT, 0, handle, 0));
    FAILS(wrong, cu->cuMemMap(at + 3 * UNIT, 2 * UNIT, 0, handle, 0)); /* past the end */
    OK(cu->cuMemMap(at + UNIT, 2 * UNIT, 0, handle, 0));
    FAILS(wrong, cu->cuMemMap(at, 2 * UNIT, 0, handle, 0)); /* overlaps it */
    FAILS(wrong, cu->cuMemMap(at + 2 * UNIT, UNIT, 0, handle, 0));
    FAILS(wrong, cu->cuMemSetAccess(at, 3 * UNIT, &access, 1)); /* part is not mapped */
    FAILS(wrong, cu->cuMemSetAccess(at + UNIT, UNIT, &access, 1));
    FAILS(wrong, cu->cuMemSetAccess(at + UNIT, 2 * UNIT, NULL, 1));
    access.flags = 2;
    FAILS(wrong, cu->cuMemSetAccess(at + UNIT, 2 * UNIT, &access, 1));
    access = may_write;
    access.location.id = 99;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cu->cuMemSetAccess(at + UNIT, 2 * UNIT, &access, 1));
    FAILS(wrong, cu->cuMemUnmap(at + UNIT, UNIT)); /* only whole mappings */
    FAILS(wrong, cu->cuMemUnmap(at, 3 * UNIT));
    FAILS(wrong, cu->cuMemRetainAllocationHandle(&bad, (void *)(uintptr_t)at));
    int file;
    FAILS(wrong, cu->cuMemExportToShareableHandle(
                     &file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)); /* not asked */
    FAILS(wrong, cu->cuMemImportFromShareableHandle(&bad, (void *)(intptr_t)0,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    OK(cu->cuMemUnmap(at + UNIT, 2 * UNIT));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(at, 4 * UNIT));
}

static void access_is_given_and_taken(void **state)
{
    CUdeviceptr at = reserve(UNIT);
    CUmemGenericAllocationHandle handle = create(UNIT);
    unsigned long long flags = 9;
    int host[4] = {7, 7, 7, 7};
    OK(cu->cuMemMap(at, UNIT, 0, handle, 0));
    OK(cu->cuMemGetAccess(&flags, &may_write.location, at));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyHtoD_v2(at, host, sizeof host));
    OK(launch_add(at, 4, 1, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
    begin_again(); /* the mapping belongs to no context */
    OK(cu->cuMemSetAccess(at, UNIT, &may_write, 1));
    OK(cu->cuMemGetAccess(&flags, &may_write.location, at + 5));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu->cuMemcpyHtoD_v2(at, host, sizeof host));
    OK(launch_add(at, 4, 1, NULL));
    expect_all(at, 4, 8);
    OK(cu->cuMemSetAccess(at, UNIT, &may_read, 1));
    expect_all(at, 4, 8);
    CUdeviceptr plain = zeros(4);
    OK(cu->cuMemcpyDtoD_v2(plain, at, 16));
    expect_all(plain, 4, 8);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoD_v2(at, plain, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(at, 0, 16));
    OK(launch_add(at, 4, 1, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
    begin_again();
    expect_all(at, 4, 8);
    OK(cu->cuMemSetAccess(at, UNIT, &may_nothing, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(host, at, sizeof host));
    OK(cu->cuMemUnmap(at, UNIT));
    OK(cu->cuMemRelease(handle));
    OK(launch_add(at, 4, 1, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cu->cuCtxSynchronize());
    begin_again();
    OK(cu->cuMemAddressFree(at, UNIT));
}

static void pointers_say(void **state)
{
    CUdeviceptr at = reserve(4 * UNIT), value, base;
    CUmemGenericAllocationHandle handle = create(2 * UNIT);
    CUmemAllocationProp properties;
    CUmemorytype type;
    size_t size;
    int number;
    OK(cu->cuMemMap(at + UNIT, 2 * UNIT, 0, handle, 0));
    OK(cu->cuMemSetAccess(at + UNIT, 2 * UNIT, &may_write, 1));
    OK(cu->cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MAPPED, at));
    assert_int_equal(number, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    OK(cu->cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MAPPED, at + UNIT));
    assert_int_equal(number, 1);
    OK(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at + UNIT));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cu->cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at + UNIT));
    assert_int_equal(number, 0);
    OK(cu->cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at + UNIT));
    assert_true(value == at);
    OK(cu->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at + UNIT));
    assert_int_equal(size, 4 * UNIT);
    OK(cu->cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at + 2 * UNIT));
    assert_true(value == at + UNIT);
    OK(cu->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, at + UNIT));
    assert_int_equal(size, 2 * UNIT);
    OK(cu->cuMemGetAddressRange_v2(&base, &size, at + 2 * UNIT));
    assert_true(base == at + UNIT && size == 2 * UNIT);
    OK(cu->cuMemGetAllocationPropertiesFromHandle(&properties, handle));
    assert_int_equal(properties.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    OK(cu->cuMemUnmap(at + UNIT, 2 * UNIT));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(at, 4 * UNIT));
}

static void host_memory(void **state)
{
    if (!cu->simulated)
        skip(); /* a driver may want another granularity */
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    CUmemAccessDesc both[] = {may_write, may_write};
    CUdeviceptr at = reserve(UNIT);
    CUmemGenericAllocationHandle handle;
    both[1].location = properties.location;
    OK(cu->cuMemCreate(&handle, UNIT, &properties, 0));
    OK(cu->cuMemMap(at, UNIT, 0, handle, 0));
    OK(cu->cuMemSetAccess(at, UNIT, both, 2));
    volatile int *host = (volatile int *)(uintptr_t)at;
    host[3] = 40;
    OK(launch_add(at, 4, 2, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(host[3], 42);
    OK(cu->cuMemUnmap(at, UNIT));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(at, UNIT));
}

/* Addresses that were reserved while device 0 was current serve device 1's memory too. */
static void another_device(void **state)
{
    int count;
    OK(cu->cuDeviceGetCount(&count));
    if (count < 2 || !cu->simulated)
        skip();
    CUdeviceptr at = reserve(UNIT);
    CUmemAllocationProp properties = on_device;
    CUmemAccessDesc access = may_write;
    CUmemGenericAllocationHandle handle;
    CUcontext second;
    CUmodule loaded;
    CUfunction add;
    properties.location.id = 1;
    OK(cu->cuMemCreate(&handle, UNIT, &properties, 0));
    OK(cu->cuMemMap(at, UNIT, 0, handle, 0));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cu->cuMemSetAccess(at, UNIT, &may_write, 1));
    access.location.id = 1;
    OK(cu->cuMemSetAccess(at, UNIT, &access, 1));
    OK(cu->cuMemsetD32_v2(at, 1, INTS));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuDevicePrimaryCtxRetain(&second, 1));
    OK(cu->cuCtxPushCurrent_v2(second));
    OK(cu->cuModuleLoadData(&loaded, kernels_ptx));
    OK(cu->cuModuleGetFunction(&add, loaded, "add"));
    int n = INTS, value = 2;
    void *params[] = {&at, &n, &value};
    OK(cu->cuLaunchKernel(add, INTS / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuCtxPopCurrent_v2(&second));
    expect_all(at, INTS, 3);
    OK(cu->cuMemUnmap(at, UNIT));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(at, UNIT));
    OK(cu->cuDevicePrimaryCtxRelease_v2(1));
}

/* Another process --------------------------------------------------------------------------------
 */

static int sockets[2];
static pid_t child;

static void send_file(int file)
{
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &file, sizeof file);
    assert_int_equal(sendmsg(sockets[0], &message, 0), 1);
}

static int receive_file(void)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int file = -1;
    if (recvmsg(sockets[1], &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        return -1;
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

/* The child: adds 1 to what the parent has put there. Its exit status. */
static int add_to_imported(void)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    int file = receive_file();
    if (file < 0) /* the parent did not come so far */
        return 0;
    if (start(NULL) ||
        cu->cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ||
        cu->cuMemAddressReserve(&at, UNIT, 0, 0, 0) || cu->cuMemMap(at, UNIT, 0, handle, 0) ||
        cu->cuMemSetAccess(at, UNIT, &may_write, 1) || launch_add(at, INTS, 1, NULL) ||
        cu->cuCtxSynchronize() || cu->cuMemUnmap(at, UNIT) || cu->cuMemRelease(handle))
        return 1;
    return 0;
}

static void another_process(void **state)
{
    CUmemAllocationProp properties = on_device;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = reserve(UNIT);
    int file, status;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cu->cuMemCreate(&handle, UNIT, &properties, 0));
    OK(cu->cuMemMap(at, UNIT, 0, handle, 0));
    OK(cu->cuMemSetAccess(at, UNIT, &may_write, 1));
    OK(cu->cuMemsetD32_v2(at, 41, INTS));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                        0));
    send_file(file);
    close(file);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_all(at, INTS, 42);
    OK(cu->cuMemUnmap(at, UNIT));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(at, UNIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_so),         cmocka_unit_test(pieces_are_one_range),
        cmocka_unit_test(memory_moves),    cmocka_unit_test(addresses_can_be_wanted),
        cmocka_unit_test(wrong_arguments), cmocka_unit_test(pointers_say),
        cmocka_unit_test(host_memory),     cmocka_unit_test(another_device),
        cmocka_unit_test(another_process), cmocka_unit_test(access_is_given_and_taken),
    };
    setenv("LOCKSTEP_GPU", "sim:h200x2", 0);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        return 1;
    child = fork(); /* before the driver is used */
    if (child == 0) {
        close(sockets[0]);
        _exit(add_to_imported());
    }
    close(sockets[1]);
    return cmocka_run_group_tests(tests, start, NULL);
}
