/*
 * error.c: names and texts of CUresult, from cuda/results.def.
 */
#include "driver/state.h"

static bool describe(CUresult error, const char **name, const char **text)
{
    switch (error) {
#define RESULT(symbol, value, words)                                                               \
    case symbol:                                                                                   \
        *name = #symbol;                                                                           \
        *text = words;                                                                             \
        return true;
#include "cuda/results.def"
    }
    return false;
}

CUresult drv_cuGetErrorName(CUresult error, const char **result)
{
    const char *name, *text;
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = describe(error, &name, &text);
    *result = known ? name : NULL;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGetErrorString(CUresult error, const char **result)
{
    const char *name, *text;
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = describe(error, &name, &text);
    *result = known ? text : NULL;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
