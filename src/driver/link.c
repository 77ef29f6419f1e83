/*
 * link.c: cuLink: PTX texts put together. What comes out stands for a cubin: cuModuleLoadData takes
 * it, nothing else does.
 */
#include "driver/image.h"
#include "driver/ptxlink.h"
#include "driver/state.h"

#include "base/arena.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    struct drv_object object;
    CUcontext context;
    struct drv_jit jit;
    struct drv_list texts;
    size_t *sizes;
    char *result;
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
    char *text, *message;
    size_t text_size;
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES || state->result)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_NVVM || type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY) {
        drv_remark_once("cuLinkAddData takes PTX and fat binaries with PTX; objects, libraries and "
                        "LTO input are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult status =
        drv_image_to_ptx(state->context->device->gpu, data, size, &text, &text_size, &message);
    if (status != CUDA_SUCCESS)
        return link_fail(state, status, message);
    drv_list_add(&state->texts, text);
    state->sizes = lk_realloc(state->sizes, state->texts.count * sizeof *state->sizes);
    state->sizes[state->texts.count - 1] = text_size;
    return CUDA_SUCCESS;
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
    size_t text_size;
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!cubin || !state->texts.count)
        return CUDA_ERROR_INVALID_VALUE;
    char *text = ptxlink_merge((const char *const *)state->texts.items, state->sizes,
                               state->texts.count, &text_size);
    struct lk_buf image = {0};
    lk_buf_printf(&image, "%s", DRV_LINKED_MAGIC);
    if (state->jit.max_registers)
        lk_buf_printf(&image, "%s%u\n", DRV_LINKED_REGISTERS, state->jit.max_registers);
    size_t head = image.size;
    lk_buf_add(&image, text, text_size);
    free(state->result);
    state->result = image.data;
    free(text);
    drv_enter_lock();
    CUresult status =
        drv_module_load(state->context, state->result, head + text_size + 1, &state->jit, &probe);
    if (status == CUDA_SUCCESS)
        drv_module_free(probe);
    drv_leave_lock();
    if (status != CUDA_SUCCESS)
        return status;
    *cubin = state->result;
    if (size)
        *size = head + text_size + 1;
    return CUDA_SUCCESS;
}

CUresult drv_cuLinkDestroy(CUlinkState state)
{
    if (!drv_alive(state, DRV_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < state->texts.count; i++)
        free(state->texts.items[i]);
    drv_list_free(&state->texts);
    free(state->sizes);
    free(state->result);
    drv_delete(state);
    return CUDA_SUCCESS;
}
