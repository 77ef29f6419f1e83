/*
 * api_gpu.c: the public calls that open a GPU and move memory, for programs that do not use CUDA
 * themselves; and the driver and the context that every call begins with.
 */
#include "zoo/api.h"

#include <stdio.h>
#include <stdlib.h>

static lk_status find_driver(const char *call, const struct lk_driver **cuda, CUcontext *context)
{
    char *message;
    *context = NULL;
    *cuda = lk_driver_open(NULL, NULL, &message);
    if (!*cuda) {
        lk_status status = api_fail(LK_NO_GPU, call, "%s", message);
        free(message);
        return status;
    }
    CUresult result = (*cuda)->cuCtxGetCurrent(context);
    if (result != CUDA_SUCCESS)
        return api_driver_failed(*cuda, result, call, "asking for the current context");
    return LK_OK;
}

lk_status api_need_context(const char *call, const struct lk_driver **cuda, CUcontext *context)
{
    lk_status status = find_driver(call, cuda, context);
    if (status == LK_OK && !*context)
        return api_fail(
            LK_NO_GPU, call,
            "no context is current on this thread; call lk_open(NULL), or cudaSetDevice "
            "or cuCtxSetCurrent in a program that uses CUDA");
    return status;
}

lk_status lk_open(const char *gpu)
{
    struct zoo_device device;
    char *message;
    if (!gpu) {
        const struct lk_driver *cuda;
        CUcontext context;
        lk_status status = find_driver("open", &cuda, &context);
        if (status != LK_OK || context)
            return status;
        const char *asked = getenv("LOCKSTEP_GPU");
        gpu = asked && *asked ? asked : cuda->gpu;
    }
    if (zoo_device_open(gpu, &device, &message))
        return LK_OK;
    lk_status status = api_fail(LK_NO_GPU, "open", "%s", message);
    free(message);
    return status;
}

lk_status lk_gpu_name(char *text, size_t size)
{
    struct api_context *context;
    lk_status status = api_current("gpu_name", &context);
    if (status == LK_OK && !text)
        status = api_fail(LK_BAD_ARGUMENT, "gpu_name", "text is NULL");
    if (status == LK_OK)
        snprintf(text, size, "%s%s", context->device.name,
                 context->device.cuda->simulated ? " (simulated)" : "");
    return status;
}

static lk_status finish(const struct lk_driver *cuda, CUresult result, const char *call,
                        const char *what)
{
    return result == CUDA_SUCCESS ? LK_OK : api_driver_failed(cuda, result, call, what);
}

lk_status lk_malloc(void **pointer, size_t bytes)
{
    const struct lk_driver *cuda;
    CUcontext context;
    CUdeviceptr address = 0;
    if (!pointer)
        return api_fail(LK_BAD_ARGUMENT, "malloc", "pointer is NULL; it gets the address");
    *pointer = NULL;
    lk_status status = api_need_context("malloc", &cuda, &context);
    if (status == LK_OK && bytes)
        status = finish(cuda, cuda->cuMemAlloc_v2(&address, bytes), "malloc", "allocating");
    *pointer = (void *)(uintptr_t)address;
    return status;
}

lk_status lk_free(void *pointer)
{
    const struct lk_driver *cuda;
    CUcontext context;
    lk_status status = api_need_context("free", &cuda, &context);
    if (status != LK_OK || !pointer)
        return status;
    CUresult result = cuda->cuMemFree_v2((CUdeviceptr)(uintptr_t)pointer);
    api_memory_freed();
    return finish(cuda, result, "free", "freeing");
}

static lk_status check_copy(const char *call, const void *device, const void *host, size_t bytes,
                            const struct lk_driver **cuda)
{
    CUcontext context;
    if (bytes && (!device || !host))
        return api_fail(LK_BAD_ARGUMENT, call, "the %s pointer is NULL",
                        device ? "host's" : "device's");
    return api_need_context(call, cuda, &context);
}

lk_status lk_copy_to(void *to_device, const void *from_host, size_t bytes)
{
    const struct lk_driver *cuda = NULL;
    lk_status status = check_copy("copy_to", to_device, from_host, bytes, &cuda);
    if (status != LK_OK || !bytes || !cuda)
        return status;
    return finish(cuda, cuda->cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)to_device, from_host, bytes),
                  "copy_to", "copying");
}

lk_status lk_copy_from(void *to_host, const void *from_device, size_t bytes)
{
    const struct lk_driver *cuda = NULL;
    lk_status status = check_copy("copy_from", from_device, to_host, bytes, &cuda);
    if (status != LK_OK || !bytes || !cuda)
        return status;
    return finish(cuda, cuda->cuMemcpyDtoH_v2(to_host, (CUdeviceptr)(uintptr_t)from_device, bytes),
                  "copy_from", "copying");
}

lk_status lk_wait(void *stream)
{
    const struct lk_driver *cuda;
    CUcontext context;
    lk_status status = api_need_context("wait", &cuda, &context);
    if (status != LK_OK)
        return status;
    return finish(cuda, cuda->cuStreamSynchronize(stream), "wait", "the work in the stream");
}
