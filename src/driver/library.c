/*
 * library.c: libraries and their kernels: modules that belong to no context. The PTX is kept; each
 * context that asks for something of it gets a module of its own.
 */
#include "driver/image.h"
#include "driver/state.h"

#include "base/arena.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

/* The library's module in context. Lock held. */
static CUresult module_in(CUlibrary library, CUcontext context, struct drv_jit *jit,
                          CUmodule *module)
{
    for (size_t i = 0; i < library->modules.count; i++) {
        *module = library->modules.items[i];
        if ((*module)->context == context)
            return CUDA_SUCCESS;
    }
    struct drv_jit kept = {.max_registers = library->max_registers};
    CUresult status = drv_module_load_ptx(context, library->image, library->image_size,
                                          jit ? jit : &kept, module);
    if (status == CUDA_SUCCESS) {
        (*module)->library = library;
        drv_list_add(&library->modules, *module);
    }
    return status;
}

/* The current context, else the first device's primary one: what a call without a context asks
 * about is the same in all. */
static CUresult any_context(CUcontext *context)
{
    CUresult status = drv_current(context);
    if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return status;
    status = drv_cuDevicePrimaryCtxRetain(context, 0);
    if (status == CUDA_SUCCESS)
        status = (*context)->error;
    return status;
}

static CUresult library_load(CUlibrary *result, const void *image, size_t size, unsigned jit_count,
                             CUjit_option *jit_options, void **jit_values)
{
    struct drv_jit jit;
    CUcontext context;
    CUmodule module;
    char *message = NULL;
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!result || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = drv_jit_options(jit_count, jit_options, jit_values, &jit);
    if (status == CUDA_SUCCESS)
        status = any_context(&context);
    if (status != CUDA_SUCCESS)
        return status;
    CUlibrary library = drv_new(sizeof *library, DRV_LIBRARY);
    status = drv_image_to_ptx(context->device->gpu, image, size, &library->image,
                              &library->image_size, &message);
    if (message) {
        drv_jit_log(&jit, message);
        if (!jit.error)
            drv_remark("%s", message);
        free(message);
    }
    unsigned linked = drv_linked_registers(image);
    if (!jit.max_registers)
        jit.max_registers = linked;
    library->max_registers = jit.max_registers;
    drv_enter_lock();
    if (status == CUDA_SUCCESS)
        status = module_in(library, context, &jit, &module);
    drv_leave_lock();
    if (status != CUDA_SUCCESS) {
        free(library->image);
        drv_delete(library);
        return status;
    }
    *result = library;
    return CUDA_SUCCESS;
}

CUresult drv_cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options,
                               void **values, unsigned count)
{
    return library_load(library, image, 0, jit_count, jit_options, jit_values);
}

CUresult drv_cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options,
                                   void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                   void **values, unsigned count)
{
    struct lk_buf image = {0};
    if (!library || !path)
        return CUDA_ERROR_INVALID_VALUE;
    if (!host_read_file(path, &image, NULL))
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult status = image.size ? library_load(library, image.data, image.size, jit_count,
                                                jit_options, jit_values)
                                 : CUDA_ERROR_INVALID_IMAGE;
    lk_buf_free(&image);
    return status;
}

CUresult drv_cuLibraryUnload(CUlibrary library)
{
    if (!drv_alive(library, DRV_LIBRARY))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    while (library->modules.count) {
        CUmodule module = library->modules.items[library->modules.count - 1];
        drv_wait_context(module->context);
        drv_module_free(module);
    }
    for (size_t i = 0; i < library->kernels.count; i++) {
        CUkernel kernel = library->kernels.items[i];
        free(kernel->name);
        drv_delete(kernel);
    }
    drv_list_free(&library->kernels);
    drv_list_free(&library->modules);
    free(library->image);
    drv_delete(library);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

static CUkernel kernel_of(CUlibrary library, const char *name)
{
    for (size_t i = 0; i < library->kernels.count; i++) {
        CUkernel kernel = library->kernels.items[i];
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    }
    CUkernel kernel = drv_new(sizeof *kernel, DRV_KERNEL);
    kernel->library = library;
    kernel->name = strdup(name);
    drv_list_add(&library->kernels, kernel);
    return kernel;
}

/* Any module of the library, for what is the same in all. Lock held on success. */
static CUresult enter_library(CUlibrary library, CUmodule *module)
{
    CUcontext context;
    if (!drv_alive(library, DRV_LIBRARY))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult status = any_context(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = module_in(library, context, NULL, module);
    if (status != CUDA_SUCCESS)
        drv_leave_lock();
    return status;
}

CUresult drv_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    CUmodule module;
    CUfunction function;
    if (!kernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = enter_library(library, &module);
    if (status != CUDA_SUCCESS)
        return status;
    status = drv_module_function(module, name, &function);
    if (status == CUDA_SUCCESS)
        *kernel = kernel_of(library, name);
    drv_leave_lock();
    return status;
}

CUresult drv_cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    CUmodule module;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = enter_library(library, &module);
    if (status != CUDA_SUCCESS)
        return status;
    *count = simt_module_kernel_count(module->module);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    CUmodule module;
    if (!kernels || !count)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = enter_library(library, &module);
    if (status != CUDA_SUCCESS)
        return status;
    unsigned there = simt_module_kernel_count(module->module);
    for (unsigned i = 0; i < count && i < there; i++)
        kernels[i] =
            kernel_of(library, simt_kernel_info(simt_module_kernel_at(module->module, i))->name);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    status = enter_library(library, module);
    if (status == CUDA_SUCCESS)
        drv_leave_lock();
    return status;
}

CUresult drv_cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary library,
                                const char *name)
{
    CUmodule module;
    CUresult status = drv_cuLibraryGetModule(&module, library);
    return status == CUDA_SUCCESS ? drv_cuModuleGetGlobal_v2(address, size, module, name) : status;
}

CUresult drv_cuLibraryGetManaged(CUdeviceptr *address, size_t *size, CUlibrary library,
                                 const char *name)
{
    CUdeviceptr at;
    struct simt_allocation found;
    CUmodule module;
    CUresult status = drv_cuLibraryGetModule(&module, library);
    if (status == CUDA_SUCCESS)
        status = drv_cuModuleGetGlobal_v2(&at, size, module, name);
    if (status != CUDA_SUCCESS)
        return status;
    if (!simt_find(module->context->device->machine, at, &found) ||
        found.kind != SIMT_MEMORY_MANAGED)
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = at;
    return CUDA_SUCCESS;
}

/* Kernels -------------------------------------------------------------------------------------- */

CUresult drv_function_find(CUcontext context, CUfunction handle, CUfunction *function)
{
    if (drv_alive(handle, DRV_FUNCTION)) {
        *function = handle;
        return CUDA_SUCCESS;
    }
    CUkernel kernel = (CUkernel)handle;
    if (!drv_alive(kernel, DRV_KERNEL))
        return CUDA_ERROR_INVALID_HANDLE;
    CUmodule module;
    CUresult status = module_in(kernel->library, context, NULL, &module);
    if (status == CUDA_SUCCESS)
        status = drv_module_function(module, kernel->name, function);
    if (status == CUDA_SUCCESS)
        (*function)->owner = kernel;
    return status;
}

CUresult drv_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(kernel, DRV_KERNEL))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    status = drv_function_find(context, (CUfunction)kernel, function);
    drv_leave_lock();
    return status;
}

CUresult drv_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(kernel, DRV_KERNEL))
        return CUDA_ERROR_INVALID_HANDLE;
    *library = kernel->library;
    return CUDA_SUCCESS;
}

CUresult drv_cuKernelGetName(const char **name, CUkernel kernel)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(kernel, DRV_KERNEL))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = kernel->name;
    return CUDA_SUCCESS;
}

/* A kernel as the function it is on a device: in the current context if that is the device's. */
static CUresult function_on(CUkernel kernel, CUdevice device, CUfunction *function)
{
    CUcontext context = drv_context_top();
    CUresult status = drv_check_device(device);
    if (status == CUDA_SUCCESS && !drv_alive(kernel, DRV_KERNEL))
        status = CUDA_ERROR_INVALID_HANDLE;
    if (status == CUDA_SUCCESS &&
        (!context || context->destroyed || context->device->ordinal != device))
        status = drv_cuDevicePrimaryCtxRetain(&context, device);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_function_find(context, (CUfunction)kernel, function);
    drv_leave_lock();
    return status;
}

CUresult drv_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                  CUdevice device)
{
    CUfunction function;
    CUresult status = function_on(kernel, device, &function);
    return status == CUDA_SUCCESS ? drv_cuFuncGetAttribute(value, attribute, function) : status;
}

CUresult drv_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                  CUdevice device)
{
    CUfunction function;
    CUresult status = function_on(kernel, device, &function);
    return status == CUDA_SUCCESS ? drv_cuFuncSetAttribute(function, attribute, value) : status;
}

CUresult drv_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    CUfunction function;
    CUresult status = function_on(kernel, device, &function);
    return status == CUDA_SUCCESS ? drv_cuFuncSetCacheConfig(function, config) : status;
}

CUresult drv_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    CUfunction function;
    CUcontext context;
    CUresult status = any_context(&context);
    if (status == CUDA_SUCCESS)
        status = function_on(kernel, context->device->ordinal, &function);
    return status == CUDA_SUCCESS ? drv_cuFuncGetParamInfo(function, index, offset, size) : status;
}
