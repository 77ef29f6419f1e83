/*
 * test_memory.c: allocation, copies in all shapes, memsets, pools, what pointers say, and wrong
 * arguments, each with the error that a GPU gives.
 */
#include "driver/common.h"

static void allocates_and_frees(void **state)
{
    CUdeviceptr data, base;
    size_t size, before, after, total;
    OK(cu->cuMemGetInfo_v2(&before, &total));
    OK(cu->cuMemAlloc_v2(&data, 1 << 20));
    assert_int_equal(data % 256, 0);
    OK(cu->cuMemGetInfo_v2(&after, &total));
    OK(cu->cuMemGetAddressRange_v2(&base, &size, data + 1000));
    assert_true(base == data && size == 1 << 20);
    OK(cu->cuMemFree_v2(data));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(data));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(data + 4));
    OK(cu->cuMemFree_v2(0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(&data, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 16));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAlloc_v2(&data, (size_t)1 << 50));
}

static void copies_lines(void **state)
{
    int host[256], back[256];
    for (int i = 0; i < 256; i++)
        host[i] = i * 3;
    CUdeviceptr a = zeros(256), b = zeros(256);
    OK(cu->cuMemcpyHtoD_v2(a, host, sizeof host));
    OK(cu->cuMemcpyDtoD_v2(b + 64, a, 512));
    OK(cu->cuMemcpyDtoH_v2(back, b, sizeof back));
    assert_int_equal(back[0], 0);
    assert_memory_equal(back + 16, host, 512);
    OK(cu->cuMemcpy((CUdeviceptr)(uintptr_t)back, a, sizeof back));
    assert_memory_equal(back, host, sizeof host);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyHtoD_v2(a, host, 1025));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(back, a + 1020, 8));
    OK(cu->cuMemcpyHtoD_v2(a, host, 0));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
}

static void copies_boxes(void **state)
{
    enum { WIDTH = 13, HEIGHT = 5, DEPTH = 3 };
    unsigned char host[DEPTH][HEIGHT][WIDTH], back[DEPTH][HEIGHT][WIDTH + 7];
    CUdeviceptr data;
    size_t pitch;
    for (size_t i = 0; i < sizeof host; i++)
        ((unsigned char *)host)[i] = (unsigned char)(i * 7);
    OK(cu->cuMemAllocPitch_v2(&data, &pitch, WIDTH, HEIGHT * DEPTH, 4));
    assert_int_equal(pitch % 4, 0);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = WIDTH,
                          .srcHeight = HEIGHT,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = data,
                          .dstPitch = pitch,
                          .dstHeight = HEIGHT,
                          .WidthInBytes = WIDTH,
                          .Height = HEIGHT,
                          .Depth = DEPTH};
    OK(cu->cuMemcpy3D_v2(&copy));
    CUDA_MEMCPY2D flat = {.srcXInBytes = 2,
                          .srcY = 1,
                          .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = data,
                          .srcPitch = pitch,
                          .dstXInBytes = 3,
                          .dstY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .dstPitch = WIDTH + 7,
                          .WidthInBytes = 9,
                          .Height = 3};
    memset(back, 0xee, sizeof back);
    OK(cu->cuMemcpy2D_v2(&flat));
    for (int y = 0; y < 3; y++)
        assert_memory_equal(&back[0][y + 2][3], &host[0][y + 1][2], 9);
    assert_int_equal(back[0][2][2], 0xee);
    assert_int_equal(back[0][2][12], 0xee);
    flat.dstPitch = 11; /* shorter than 3 + 9 */
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy2D_v2(&flat));
    flat.dstPitch = WIDTH + 7;
    flat.srcY = 1 << 20;
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy2DUnaligned_v2(&flat));
    OK(cu->cuMemFree_v2(data));
}

static void fills(void **state)
{
    unsigned short host[64];
    CUdeviceptr data = zeros(32);
    OK(cu->cuMemsetD16_v2(data, 0x1234, 64));
    OK(cu->cuMemsetD8_v2(data + 4, 0xff, 3));
    OK(cu->cuMemsetD2D16_v2(data + 32, 32, 0x5678, 4, 3));
    OK(cu->cuMemcpyDtoH_v2(host, data, 128));
    assert_int_equal(host[1], 0x1234);
    assert_int_equal(host[2], 0xffff);
    assert_int_equal(host[3], 0x12ff);
    assert_int_equal(host[16 + 3], 0x5678);
    assert_int_equal(host[16 + 4], 0x1234);
    assert_int_equal(host[32 + 3], 0x5678);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD32_v2(data + 2, 0, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(data, 0, 129));
    OK(cu->cuMemFree_v2(data));
}

static void host_memory(void **state)
{
    int *pinned, *back, plain[512];
    CUdeviceptr address;
    unsigned flags;
    OK(cu->cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu->cuMemHostGetDevicePointer_v2(&address, pinned, 0));
    memset(pinned, 0, 4096);
    OK(launch_add(address, 1024, 5, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(pinned[1023], 5);
    OK(cu->cuMemHostGetFlags(&flags, pinned));
    assert_true(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cu->cuMemFreeHost(pinned));
    back = aligned_alloc(4096, 4096);
    memset(back, 0, 4096);
    OK(cu->cuMemHostRegister_v2(back, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu->cuMemHostRegister_v2(back, 4096, 0));
    OK(cu->cuMemHostGetDevicePointer_v2(&address, back, 0));
    OK(launch_add(address, 1024, 9, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(back[0], 9);
    OK(cu->cuMemHostUnregister(back));
    FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu->cuMemHostUnregister(back));
    free(back);
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostGetDevicePointer_v2(&address, plain, 0));
}

static void managed_memory(void **state)
{
    CUdeviceptr data;
    int managed = 0, ordinal = -1;
    OK(cu->cuMemAllocManaged(&data, 4096, CU_MEM_ATTACH_GLOBAL));
    int *host = (int *)(uintptr_t)data;
    for (int i = 0; i < 1024; i++)
        host[i] = i;
    OK(launch_add(data, 1024, 1, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(host[1000], 1001);
    OK(cu->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, data));
    OK(cu->cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, data + 8));
    assert_int_equal(managed, 1);
    assert_int_equal(ordinal, 0);
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    OK(cu->cuMemAdvise_v2(data, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    OK(cu->cuMemPrefetchAsync_v2(data, 4096, here, 0, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemFree_v2(data));
}

/* Advice and prefetches of several ranges, and what is told of them afterwards. */
static void managed_ranges(void **state)
{
    CUdeviceptr all[2];
    size_t sizes[2] = {4096, 8192}, from[2] = {0, 1};
    CUmemLocation to[2] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
    int values[3];
    void *where[] = {&values[0], &values[1], &values[2]};
    size_t bytes[] = {4, 4, 4};
    CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID};
    for (int i = 0; i < 2; i++)
        OK(cu->cuMemAllocManaged(&all[i], sizes[i], CU_MEM_ATTACH_GLOBAL));
    OK(cu->cuMemPrefetchBatchAsync(all, sizes, 2, to, from, 2, 0, NULL));
    OK(cu->cuMemAdvise_v2(all[1], 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, to[0]));
    for (int i = 0; i < 2; i++) {
        OK(cu->cuMemRangeGetAttributes(where, bytes, which, 3, all[i], sizes[i]));
        assert_int_equal(values[0], i ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_INVALID);
        assert_int_equal(values[1], i ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE);
        assert_int_equal(values[2], 0);
    }
    for (int i = 0; i < 2; i++)
        OK(cu->cuMemAdvise_v2(all[0], 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, to[i]));
    OK(cu->cuMemRangeGetAttribute(values, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, all[0], 4096));
    assert_int_equal(values[0], 0);
    assert_int_equal(values[1], CU_DEVICE_CPU);
    assert_int_equal(values[2], CU_DEVICE_INVALID);
    OK(cu->cuMemDiscardBatchAsync(all, sizes, 2, 0, NULL));
    OK(cu->cuMemDiscardAndPrefetchBatchAsync(all, sizes, 2, to, from, 1, 0, NULL));
    OK(cu->cuMemRangeGetAttributes(where, bytes, which, 3, all[1], sizes[1]));
    assert_int_equal(values[1], CU_MEM_LOCATION_TYPE_DEVICE);
    sizes[1] = (size_t)1 << 40;
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemDiscardBatchAsync(all, sizes, 2, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemPrefetchBatchAsync(all, sizes, 2, to, from, 2, 0, NULL));
    for (int i = 0; i < 2; i++)
        OK(cu->cuMemFree_v2(all[i]));
}

static void pointers_say(void **state)
{
    int plain;
    unsigned type = 9;
    CUdeviceptr data = zeros(8), start = 0;
    size_t size = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *where[] = {&type, &start, &size};
    OK(cu->cuPointerGetAttributes(3, which, where, data + 4));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_true(start == data);
    assert_int_equal(size, 32);
    OK(cu->cuPointerGetAttributes(3, which, where, (uintptr_t)&plain));
    assert_int_equal(type, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&plain));
    OK(cu->cuMemFree_v2(data));
}

static void pools(void **state)
{
    CUmemoryPool pool, own;
    CUstream stream;
    CUdeviceptr a, b;
    cuuint64_t used, keep = 1 << 20;
    OK(cu->cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAllocAsync(&a, 4000, stream));
    OK(cu->cuMemsetD32Async(a, 3, 1000, stream));
    OK(launch_add(a, 1000, 4, stream));
    OK(cu->cuStreamSynchronize(stream));
    expect_all(a, 1000, 7);
    OK(cu->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_true(used >= 4000);
    OK(cu->cuMemFreeAsync(a, stream));
    OK(cu->cuStreamSynchronize(stream));
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    OK(cu->cuMemPoolCreate(&own, &properties));
    OK(cu->cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    OK(cu->cuMemAllocFromPoolAsync(&b, 64, own, stream));
    OK(cu->cuMemFreeAsync(b, stream));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemPoolTrimTo(own, 0));
    OK(cu->cuMemPoolDestroy(own));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeAsync(0x10, stream));
    OK(cu->cuStreamDestroy_v2(stream));
}

static CUresult take(int kind, CUdeviceptr *address, size_t size)
{
    CUresult status = kind == 0   ? cu->cuMemAlloc_v2(address, size)
                      : kind == 1 ? cu->cuMemAllocManaged(address, size, CU_MEM_ATTACH_GLOBAL)
                                  : cu->cuMemAllocAsync(address, size, NULL);
    return status;
}

static size_t free_now(void)
{
    size_t there, total;
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemGetInfo_v2(&there, &total));
    assert_true(there <= total);
    return there;
}

/* What is said to be free can be allocated, no more than that can, and it comes back. On a GPU the
 * last megabytes are another matter, and managed memory may exceed it. */
static void info_agrees_with_allocations(void **state)
{
    const size_t unit = (size_t)2 << 20;
#ifdef __SANITIZE_THREAD__
    skip(); /* there is less address space than the GPU has memory */
#endif
    if (!cu->simulated)
        skip();
    for (int kind = 0; kind < 3; kind++) {
        CUdeviceptr all, small, half;
        size_t before = free_now();
        assert_true(before > 8 * unit);
        FAILS(CUDA_ERROR_OUT_OF_MEMORY, take(kind, &all, before + unit));
        FAILS(CUDA_ERROR_OUT_OF_MEMORY, take(kind, &all, before + 1));
        assert_int_equal(free_now(), before);

        OK(take(kind, &half, 3 * unit + 5));
        assert_int_equal(free_now(), before - 4 * unit);
        OK(take(kind, &small, 100));
        assert_in_range(free_now(), before - 5 * unit, before - 4 * unit);
        size_t left = free_now();
        FAILS(CUDA_ERROR_OUT_OF_MEMORY, take(kind, &all, left + unit));
        OK(take(kind, &all, left));
        assert_true(free_now() < unit);
        CUdeviceptr more;
        FAILS(CUDA_ERROR_OUT_OF_MEMORY, take(kind, &more, unit));

        OK(kind == 2 ? cu->cuMemFreeAsync(all, NULL) : cu->cuMemFree_v2(all));
        assert_int_equal(free_now(), left);
        OK(cu->cuMemFree_v2(half));
        OK(cu->cuMemFree_v2(small));
        assert_int_equal(free_now(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocates_and_frees),
        cmocka_unit_test(copies_lines),
        cmocka_unit_test(copies_boxes),
        cmocka_unit_test(fills),
        cmocka_unit_test(host_memory),
        cmocka_unit_test(managed_memory),
        cmocka_unit_test(managed_ranges),
        cmocka_unit_test(pointers_say),
        cmocka_unit_test(pools),
        cmocka_unit_test(info_agrees_with_allocations),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
