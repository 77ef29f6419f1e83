/*
 * xt.c: cublasXt's handles and settings. Its products (classic.def) run as one call on the first
 * device's stream: tiles and devices change the time, not the result.
 */
#include "clients/blas/blas.h"

#include <stdlib.h>

#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

enum { BLOCK = 2048, BOARDS = 32 };

/* A handle of cuBLAS to the products. */
struct xt {
    struct blas_handle blas;
    int block, pinning;
};

API(cublasXtCreate, struct xt **handle)
{
    if (!handle)
        return BLAS_INVALID_VALUE;
    *handle = NULL;
    if (lk_library_context() != CUDA_SUCCESS)
        return BLAS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return BLAS_ALLOC_FAILED;
    (*handle)->block = BLOCK;
    return BLAS_SUCCESS;
}

API(cublasXtDestroy, struct xt *handle)
{
    free(handle);
    return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

API(cublasXtDeviceSelect, struct xt *handle, int count, const int *devices)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (count < 1 || count > BOARDS || !devices)
        return BLAS_INVALID_VALUE;
    for (int i = 0; i < count; i++)
        if (devices[i] < 0)
            return BLAS_INVALID_VALUE;
    return BLAS_SUCCESS;
}

API(cublasXtSetBlockDim, struct xt *handle, int block)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (block <= 0)
        return BLAS_INVALID_VALUE;
    handle->block = block;
    return BLAS_SUCCESS;
}

API(cublasXtGetBlockDim, const struct xt *handle, int *block)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!block)
        return BLAS_INVALID_VALUE;
    *block = handle->block;
    return BLAS_SUCCESS;
}

API(cublasXtSetPinningMemMode, struct xt *handle, int mode)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    handle->pinning = mode;
    return BLAS_SUCCESS;
}

API(cublasXtGetPinningMemMode, const struct xt *handle, int *mode)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!mode)
        return BLAS_INVALID_VALUE;
    *mode = handle->pinning;
    return BLAS_SUCCESS;
}

/* How much of the work a routine of the CPU gets, of which there is none (cublasXtSetCpuRoutine).
 */
API(cublasXtSetCpuRatio, const struct xt *handle, int routine, int type, float ratio)
{
    (void)routine, (void)type, (void)ratio;
    return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

API(cublasXtMaxBoards, int *count)
{
    if (!count)
        return BLAS_INVALID_VALUE;
    *count = BOARDS;
    return BLAS_SUCCESS;
}

/* Each device is a board of its own. */
API(cublasXtGetNumBoards, int count, const int *devices, int *boards)
{
    if (count < 1 || !devices || !boards)
        return BLAS_INVALID_VALUE;
    *boards = count;
    return BLAS_SUCCESS;
}
