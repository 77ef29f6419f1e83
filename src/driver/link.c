/*
 * link.c: cuLink: PTX texts put together. What comes out stands for a cubin: cuModuleLoadData takes
 * it, nothing else does.
 */
#include "driver/image.h"
#include "driver/linker.h"
#include "driver/state.h"

#include "host/files.h"

#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    struct drv_object object;
    CUcontext context;
    struct drv_jit jit;
    struct lk_linker *linker;
    bool added, complete;
};

unsigned drv_linked_registers(const void *image)
{
    size_t magic = strlen(DRV_LINKED_MAGIC), words = strlen(DRV_LINKED_REGISTERS);
    const char *text = image;
    if (strncmp(text, DRV_LINKED_MAGIC, magic) != 0 ||
        strncmp(text + magic, DRV_LINKED_REGISTERS, words) != 0)
        return 0;
    return (unsigned)strtoul(text + magic + words, NULL, 10);
}

CUresult drv_cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values,
                             CUlinkState *result)
{
    CUcontext context;
    struct drv_jit jit;
    CUresult status = drv_current(&context);
    if (status == CUDA_SUCCESS)
        status = drv_jit_options(count, options, values, &jit);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    CUlinkState state = drv_new(sizeof *state, DRV_LINK);
    state->context = context;
    state->jit = jit;
    state->linker =
        lk_linker_create(context->device->gpu->cc_major, context->device->gpu->cc_minor);
    *result = state;
    return CUDA_SUCCESS;
}

CUresult drv_cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    return drv_cuLinkCreate_v2(count, options, values, state);
}

static CUresult link_fail(CUlinkState state, CUresult status, char *message)
{
    if (message && state->jit.error && state->jit.error_size)
        drv_jit_log(&state->jit, message);
    else if (message)
        drv_remark("%s", message);
    free(message);
    return status;
}

CUresult drv_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned count, CUjit_option *options,
                              void **values)
{
    char *message;
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES || state->complete)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_NVVM) {
        drv_remark_once("cuLinkAddData takes PTX, and what has PTX in it: fat binaries, objects, "
                        "libraries; LTO input is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    enum lk_linker_result result = lk_linker_add(state->linker, data, size, name, &message);
    if (result == LK_LINKER_OK) {
        state->added = true;
        return CUDA_SUCCESS;
    }
    CUresult status =
        result == LK_LINKER_NOT_PTX ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
    return link_fail(state, status, message);
}

CUresult drv_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                           const char *name, unsigned count, CUjit_option *options, void **values)
{
    return drv_cuLinkAddData_v2(state, type, data, size, name, count, options, values);
}

CUresult drv_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned count, CUjit_option *options, void **values)
{
    struct lk_buf data = {0};
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    if (!host_read_file(path, &data, NULL))
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult status =
        drv_cuLinkAddData_v2(state, type, data.data, data.size, path, count, options, values);
    lk_buf_free(&data);
    return status;
}

CUresult drv_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                           CUjit_option *options, void **values)
{
    return drv_cuLinkAddFile_v2(state, type, path, count, options, values);
}

/* Loading it once reports errors while the caller still reads the log. */
CUresult drv_cuLinkComplete(CUlinkState state, void **cubin, size_t *size)
{
    CUmodule probe;
    char *message;
    size_t image_size;
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!cubin || !state->added)
        return CUDA_ERROR_INVALID_VALUE;
    state->complete = true;
    const void *image =
        lk_linker_finish(state->linker, state->jit.max_registers, &image_size, &message);
    if (!image)
        return link_fail(state, CUDA_ERROR_INVALID_PTX, message);
    drv_enter_lock();
    CUresult status = drv_module_load(state->context, image, image_size, &state->jit, &probe);
    if (status == CUDA_SUCCESS)
        drv_module_free(probe);
    drv_leave_lock();
    if (status != CUDA_SUCCESS)
        return status;
    *cubin = (void *)(uintptr_t)image;
    if (size)
        *size = image_size;
    return CUDA_SUCCESS;
}

CUresult drv_cuLinkDestroy(CUlinkState state)
{
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    lk_linker_free(state->linker);
    drv_delete(state);
    return CUDA_SUCCESS;
}
