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

/* A program may listen to what the driver logs. Ours logs nothing: what it has to say it prints. */
struct CUlogsCallbackEntry_st {
    char unused;
};
static struct CUlogsCallbackEntry_st log_listener;

CUresult drv_cuLogsRegisterCallback(CUlogsCallback callback, void *data,
                                    CUlogsCallbackHandle *handle)
{
    if (!callback || !handle)
        return CUDA_ERROR_INVALID_VALUE;
    *handle = &log_listener;
    return CUDA_SUCCESS;
}

CUresult drv_cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    return handle == &log_listener ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
