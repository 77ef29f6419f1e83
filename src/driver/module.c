/*
 * module.c: modules: PTX loaded into a context's machine, their kernels and variables.
 */
#include "driver/array.h"
#include "driver/image.h"
#include "driver/state.h"

#include "base/arena.h"
#include "host/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JIT options ---------------------------------------------------------------------------------- */

CUresult drv_jit_options(unsigned count, const CUjit_option *options, void **values,
                         struct drv_jit *jit)
{
    *jit = (struct drv_jit){0};
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_size = (unsigned)(uintptr_t)values[i];
            jit->info_size_out = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_size = (unsigned)(uintptr_t)values[i];
            jit->error_size_out = &values[i];
            break;
        case CU_JIT_MAX_REGISTERS:
            jit->max_registers = (unsigned)(uintptr_t)values[i];
            break;
        default: /* optimisation levels mean nothing to an interpreter */
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (jit->info && jit->info_size)
        jit->info[0] = 0;
    if (jit->error && jit->error_size)
        jit->error[0] = 0;
    return CUDA_SUCCESS;
}

void drv_jit_log(struct drv_jit *jit, const char *error)
{
    size_t length = error ? strlen(error) : 0;
    if (jit->info_size_out)
        *jit->info_size_out = NULL;
    if (jit->error && jit->error_size) {
        snprintf(jit->error, jit->error_size, "%s", error ? error : "");
        if (length >= jit->error_size)
            length = jit->error_size - 1;
    }
    if (jit->error_size_out)
        *jit->error_size_out = (void *)(uintptr_t)length;
}

/* Loading -------------------------------------------------------------------------------------- */

/* A program rarely asks for the log; without it the reason would be lost. */
static void say_result(struct drv_jit *jit, CUresult status, const char *message)
{
    if (status != CUDA_SUCCESS && message && !(jit->error && jit->error_size))
        drv_remark("%s", message);
    drv_jit_log(jit, status == CUDA_SUCCESS ? NULL : message);
}

/* Lock held. */
CUresult drv_module_load_ptx(CUcontext context, const char *text, size_t size, struct drv_jit *jit,
                             CUmodule *result)
{
    char *message = NULL;
    CUresult status = CUDA_SUCCESS;
    struct simt_module *loaded =
        simt_module_load(context->device->machine, "ptx", text, size, &message);
    if (!loaded)
        status = errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_PTX;
    if (loaded) {
        CUmodule module = drv_new(sizeof *module, DRV_MODULE);
        module->context = context;
        module->module = loaded;
        if (jit->max_registers)
            simt_module_limit_registers(loaded, jit->max_registers);
        drv_list_add(&context->modules, module);
        *result = module;
    }
    say_result(jit, status, message);
    free(message);
    return status;
}

/* Lock held. */
CUresult drv_module_load(CUcontext context, const void *image, size_t size, struct drv_jit *jit,
                         CUmodule *result)
{
    char *text = NULL, *message = NULL;
    size_t text_size;
    struct drv_jit options = jit ? *jit : (struct drv_jit){0};
    CUresult status =
        drv_image_to_ptx(context->device->gpu, image, size, &text, &text_size, &message);
    if (!options.max_registers && status == CUDA_SUCCESS)
        options.max_registers = drv_linked_registers(image);
    if (status == CUDA_SUCCESS)
        status = drv_module_load_ptx(context, text, text_size, &options, result);
    else
        say_result(&options, status, message);
    free(text);
    free(message);
    return status;
}

/* Lock held; the context does nothing more with it. */
void drv_module_free(CUmodule module)
{
    drv_texrefs_forget(module);
    drv_list_remove(&module->context->modules, module);
    if (module->library)
        drv_list_remove(&module->library->modules, module);
    for (size_t i = 0; i < module->functions.count; i++)
        drv_function_free(module->functions.items[i]);
    drv_list_free(&module->functions);
    simt_module_unload(module->module);
    drv_delete(module);
}

static CUresult module_load(CUmodule *module, const void *image, size_t size, struct drv_jit *jit)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_module_load(context, image, size, jit, module);
    drv_leave_lock();
    return status;
}

CUresult drv_cuModuleLoad(CUmodule *module, const char *path)
{
    struct lk_buf image = {0};
    if (!module || !path)
        return CUDA_ERROR_INVALID_VALUE;
    if (!host_read_file(path, &image, NULL))
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult status =
        image.size ? module_load(module, image.data, image.size, NULL) : CUDA_ERROR_INVALID_IMAGE;
    lk_buf_free(&image);
    return status;
}

CUresult drv_cuModuleLoadData(CUmodule *module, const void *image)
{
    return module_load(module, image, 0, NULL);
}

CUresult drv_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                CUjit_option *options, void **values)
{
    struct drv_jit jit;
    CUresult status = drv_jit_options(count, options, values, &jit);
    return status == CUDA_SUCCESS ? module_load(module, image, 0, &jit) : status;
}

CUresult drv_cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return module_load(module, image, 0, NULL);
}

CUresult drv_cuModuleUnload(CUmodule module)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(module, DRV_MODULE) || module->library)
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    status = drv_wait_context(module->context);
    drv_module_free(module);
    drv_leave_lock();
    return status;
}

CUresult drv_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* Kernels and variables ------------------------------------------------------------------------ */

static CUfunction function_of(CUmodule module, struct simt_kernel *kernel)
{
    for (size_t i = 0; i < module->functions.count; i++) {
        CUfunction function = module->functions.items[i];
        if (function->kernel == kernel)
            return function;
    }
    CUfunction function = drv_new(sizeof *function, DRV_FUNCTION);
    function->module = module;
    function->kernel = kernel;
    function->info = simt_kernel_info(kernel);
    int room =
        (int)module->context->device->gpu->shared_per_block - (int)function->info->static_shared;
    function->settings.max_dynamic_shared = room > 0 ? room : 0;
    function->settings.carveout = -1;
    memcpy(function->settings.cluster, function->info->required_cluster,
           sizeof function->settings.cluster);
    drv_list_add(&module->functions, function);
    return function;
}

CUresult drv_module_function(CUmodule module, const char *name, CUfunction *function)
{
    struct simt_kernel *kernel = simt_module_kernel(module->module, name);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    *function = function_of(module, kernel);
    return CUDA_SUCCESS;
}

CUresult drv_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(module, DRV_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    status = drv_module_function(module, name, function);
    drv_leave_lock();
    return status;
}

CUresult drv_cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(module, DRV_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    *count = simt_module_kernel_count(module->module);
    return CUDA_SUCCESS;
}

CUresult drv_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!functions || !count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(module, DRV_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    unsigned there = simt_module_kernel_count(module->module);
    for (unsigned i = 0; i < count && i < there; i++)
        functions[i] = function_of(module, simt_module_kernel_at(module->module, i));
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module,
                                  const char *name)
{
    CUcontext context;
    uint64_t at;
    size_t bytes;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(module, DRV_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!simt_module_global(module->module, name, &at, &bytes))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = at;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}
