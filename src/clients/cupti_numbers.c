/*
 * cupti_numbers.c: of the drop-in libcupti (cupti.c) the version and the numbers of handles, and
 * what it does not have.
 */
#include "clients/cupti.h"
#include "clients/driver_calls.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { VERSION = 130200 };
enum { THREAD_DEFAULT, THREAD_SYSTEM };

static _Atomic uint32_t thread_kind = THREAD_DEFAULT;

uint32_t cupti_thread(void)
{
    return thread_kind == THREAD_SYSTEM ? (uint32_t)syscall(SYS_gettid) : (uint32_t)pthread_self();
}

API(cuptiSetThreadIdType, uint32_t kind)
{
    if (kind > THREAD_SYSTEM)
        return CUPTI_INVALID_PARAMETER;
    thread_kind = kind;
    return CUPTI_OK;
}
API(cuptiGetThreadIdType, uint32_t *kind)
{
    if (!kind)
        return CUPTI_INVALID_PARAMETER;
    *kind = thread_kind;
    return CUPTI_OK;
}

API(cuptiGetVersion, uint32_t *version)
{
    if (!version)
        return CUPTI_INVALID_PARAMETER;
    *version = VERSION;
    return CUPTI_OK;
}
API(cuptiGetContextId, CUcontext context, uint32_t *number)
{
    if (!context || !number)
        return CUPTI_INVALID_PARAMETER;
    *number = context_number(context);
    return CUPTI_OK;
}
API(cuptiGetDeviceId, CUcontext context, uint32_t *number)
{
    CUdevice device = 0;
    if (!number || (context && cuCtxPushCurrent_v2(context) != CUDA_SUCCESS))
        return CUPTI_INVALID_PARAMETER;
    CUresult status = cuCtxGetDevice(&device);
    if (context)
        cuCtxPopCurrent_v2(&context);
    *number = (uint32_t)device;
    return status == CUDA_SUCCESS ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}
API(cuptiGetStreamIdEx, CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *number)
{
    unsigned long long id = 0;
    if (!number || cuStreamGetId(stream, &id) != CUDA_SUCCESS)
        return CUPTI_INVALID_PARAMETER;
    *number = (uint32_t)id;
    return CUPTI_OK;
}
API(cuptiGetStreamId, CUcontext context, CUstream stream, uint32_t *number)
{
    return cuptiGetStreamIdEx(context, stream, 0, number);
}
API(cuptiGetGraphExecId, CUgraphExec exec, uint32_t *number)
{
    if (!exec || !number)
        return CUPTI_INVALID_PARAMETER;
    *number = handle_number(exec);
    return CUPTI_OK;
}
API(cuptiGetGraphId, CUgraph graph, uint32_t *number)
{
    if (!graph || !number)
        return CUPTI_INVALID_PARAMETER;
    *number = handle_number(graph);
    return CUPTI_OK;
}
API(cuptiGetGraphNodeId, CUgraphNode node, uint64_t *number)
{
    if (!node || !number)
        return CUPTI_INVALID_PARAMETER;
    *number = (uintptr_t)node;
    return CUPTI_OK;
}
API(cuptiGetResultString, int result, const char **text)
{
    if (!text)
        return CUPTI_INVALID_PARAMETER;
    *text = result == CUPTI_OK                ? "CUPTI_SUCCESS"
            : result == CUPTI_NOT_IMPLEMENTED ? "CUPTI_ERROR_NOT_IMPLEMENTED"
            : result == CUPTI_MULTIPLE_SUBSCRIBERS
                ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
            : result == CUPTI_MAX_LIMIT_REACHED ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
                                                : "CUPTI_ERROR_INVALID_PARAMETER";
    return CUPTI_OK;
}

/* What is set for nothing: records are kept until somebody flushes. */
API(cuptiActivityFlushPeriod, uint32_t milliseconds)
{
    return CUPTI_OK;
}
API(cuptiActivityEnableHWTrace, uint8_t on)
{
    return on ? CUPTI_NOT_IMPLEMENTED : CUPTI_OK;
}

static int not_implemented(const char *name)
{
    static bool said;
    if (!said)
        fprintf(stderr,
                "lockstep: %s of CUPTI is not supported: a simulated GPU has its activities "
                "and callbacks; `lockstep profile` has counters\n",
                name);
    said = true;
    return CUPTI_NOT_IMPLEMENTED;
}

#define NO(name)                                                                                   \
    API(name, void)                                                                                \
    {                                                                                              \
        return not_implemented(#name);                                                             \
    }
#include "clients/cupti_unsupported.def"
