/*
 * api_error.c: how the public calls report failure: a status, and a message per thread.
 */
#include "zoo/api.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

const char *lk_last_error(void)
{
    return last_error;
}

const char *lk_version(void)
{
    return LK_VERSION;
}

const char *lk_status_text(lk_status status)
{
    switch (status) {
    case LK_OK:
        return "fine";
    case LK_BAD_ARGUMENT:
        return "an argument is wrong";
    case LK_SMALL_WORKSPACE:
        return "the workspace is too small";
    case LK_NO_GPU:
        return "there is no GPU, or no context is current";
    case LK_UNSUPPORTED:
        return "there is no kernel for this problem on this GPU";
    case LK_NO_MEMORY:
        return "out of memory";
    case LK_DRIVER_ERROR:
        return "the CUDA driver refused";
    }
    return "no status of lockstep";
}

lk_status api_fail(lk_status status, const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int used = snprintf(last_error, sizeof last_error, "lk_%s: ", call);
    vsnprintf(last_error + used, sizeof last_error - (size_t)used, format, arguments);
    va_end(arguments);
    return status;
}

lk_status api_driver_failed(const struct lk_driver *cuda, CUresult result, const char *call,
                            const char *what)
{
    const char *name = "an unknown error";
    cuda->cuGetErrorName(result, &name);
    lk_status status = result == CUDA_ERROR_OUT_OF_MEMORY ? LK_NO_MEMORY : LK_DRIVER_ERROR;
    return api_fail(status, call, "%s failed, the driver says: %s (%s)", what,
                    zoo_error(cuda, result), name);
}
