/*
 * handle.c: cuBLAS's handles, modes, versions, and copies of vectors and matrices; see blas.h.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

#include <stdlib.h>
#include <string.h>

typedef struct blas_handle *handle_t;
#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

API(cublasCreate_v2, handle_t *handle)
{
    if (!handle)
        return BLAS_INVALID_VALUE;
    *handle = NULL;
    if (lk_library_context() != CUDA_SUCCESS)
        return BLAS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    return *handle ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

API(cublasDestroy_v2, handle_t handle)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    cuCtxSynchronize();
    free(handle);
    return BLAS_SUCCESS;
}

#define SETTING(set, get, type, field)                                                             \
    API(set, handle_t handle, type value)                                                          \
    {                                                                                              \
        if (handle)                                                                                \
            handle->field = value;                                                                 \
        return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;                                       \
    }                                                                                              \
    API(get, handle_t handle, type *value)                                                         \
    {                                                                                              \
        if (handle)                                                                                \
            *value = handle->field;                                                                \
        return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;                                       \
    }
SETTING(cublasSetStream_v2, cublasGetStream_v2, CUstream, stream)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, device_scalars)
SETTING(cublasSetMathMode, cublasGetMathMode, int, math_mode)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_count)
/* How products may be made of narrower ones: hints, which no result here depends on. */
SETTING(cublasSetEmulationStrategy, cublasGetEmulationStrategy, int, emulation)
SETTING(cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport, int,
        special_values)
SETTING(cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl,
        int, mantissa_control)
SETTING(cublasSetFixedPointEmulationMaxMantissaBitCount,
        cublasGetFixedPointEmulationMaxMantissaBitCount, int, mantissa_bits)
SETTING(cublasSetFixedPointEmulationMantissaBitOffset,
        cublasGetFixedPointEmulationMantissaBitOffset, int, mantissa_offset)

API(cublasSetWorkspace_v2, handle_t handle, void *workspace, size_t size)
{
    (void)workspace, (void)size; /* nothing here needs one */
    return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

API(cublasGetVersion_v2, handle_t handle, int *version)
{
    (void)handle;
    *version = CUBLAS_MAJOR * 10000;
    return BLAS_SUCCESS;
}

API(cublasGetProperty, int property, int *value)
{
    *value = property == 0 ? CUBLAS_MAJOR : 0;
    return BLAS_SUCCESS;
}

EXPORT size_t cublasGetCudartVersion(void);
EXPORT size_t cublasGetCudartVersion(void)
{
    return CUBLAS_MAJOR * 1000;
}

static const char *status_name(int status)
{
    switch (status) {
    case BLAS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case BLAS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case BLAS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case BLAS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case BLAS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case BLAS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    }
    return "unknown status";
}

EXPORT const char *cublasGetStatusName(int status);
EXPORT const char *cublasGetStatusName(int status)
{
    return status_name(status);
}

EXPORT const char *cublasGetStatusString(int status);
EXPORT const char *cublasGetStatusString(int status)
{
    return status_name(status);
}

API(cublasLoggerConfigure, int on, int to_out, int to_err, const char *file)
{
    (void)on, (void)to_out, (void)to_err, (void)file;
    return BLAS_SUCCESS;
}

/* Copies: each vector is a matrix of one row ----------------------------------------------------
 */

static int copy(int64_t rows, int64_t columns, int64_t size, const void *from, int64_t from_ld,
                void *to, int64_t to_ld, CUstream stream, bool wait)
{
    if (rows < 0 || columns < 0 || size <= 0 || from_ld <= 0 || to_ld <= 0)
        return BLAS_INVALID_VALUE;
    if (!rows || !columns)
        return BLAS_SUCCESS;
    CUDA_MEMCPY2D shape = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = (CUdeviceptr)(uintptr_t)from,
                           .srcPitch = (size_t)(from_ld * size),
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = (CUdeviceptr)(uintptr_t)to,
                           .dstPitch = (size_t)(to_ld * size),
                           .WidthInBytes = (size_t)(rows * size),
                           .Height = (size_t)columns};
    CUresult result = wait ? cuMemcpy2DUnaligned_v2(&shape) : cuMemcpy2DAsync_v2(&shape, stream);
    return (int)blas_status_of(result);
}

#define COPIES(suffix, whole)                                                                      \
    API(cublasSetVector##suffix, whole n, whole size, const void *from, whole inc, void *to,       \
        whole to_inc)                                                                              \
    {                                                                                              \
        return copy(1, n, size, from, inc, to, to_inc, NULL, true);                                \
    }                                                                                              \
    API(cublasGetVector##suffix, whole n, whole size, const void *from, whole inc, void *to,       \
        whole to_inc)                                                                              \
    {                                                                                              \
        return copy(1, n, size, from, inc, to, to_inc, NULL, true);                                \
    }                                                                                              \
    API(cublasSetVectorAsync##suffix, whole n, whole size, const void *from, whole inc, void *to,  \
        whole to_inc, CUstream stream)                                                             \
    {                                                                                              \
        return copy(1, n, size, from, inc, to, to_inc, stream, false);                             \
    }                                                                                              \
    API(cublasGetVectorAsync##suffix, whole n, whole size, const void *from, whole inc, void *to,  \
        whole to_inc, CUstream stream)                                                             \
    {                                                                                              \
        return copy(1, n, size, from, inc, to, to_inc, stream, false);                             \
    }                                                                                              \
    API(cublasSetMatrix##suffix, whole rows, whole columns, whole size, const void *from,          \
        whole from_ld, void *to, whole to_ld)                                                      \
    {                                                                                              \
        return copy(rows, columns, size, from, from_ld, to, to_ld, NULL, true);                    \
    }                                                                                              \
    API(cublasGetMatrix##suffix, whole rows, whole columns, whole size, const void *from,          \
        whole from_ld, void *to, whole to_ld)                                                      \
    {                                                                                              \
        return copy(rows, columns, size, from, from_ld, to, to_ld, NULL, true);                    \
    }                                                                                              \
    API(cublasSetMatrixAsync##suffix, whole rows, whole columns, whole size, const void *from,     \
        whole from_ld, void *to, whole to_ld, CUstream stream)                                     \
    {                                                                                              \
        return copy(rows, columns, size, from, from_ld, to, to_ld, stream, false);                 \
    }                                                                                              \
    API(cublasGetMatrixAsync##suffix, whole rows, whole columns, whole size, const void *from,     \
        whole from_ld, void *to, whole to_ld, CUstream stream)                                     \
    {                                                                                              \
        return copy(rows, columns, size, from, from_ld, to, to_ld, stream, false);                 \
    }
COPIES(, int)
COPIES(_64, int64_t)
