/*
 * standin.c: a CUDA driver that does nothing, so that what a public call costs beside the driver
 * can be measured, and what it asks the driver counted. It goes by the name libcuda.so.1: a program
 * that opens it first has it as its driver. It knows its allocations, contexts and streams, as far
 * as the public calls ask about them; a launch succeeds at once. Functions that they do not use are
 * missing. One GPU, with an H200's figures.
 */
#include "standin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 256, SLOT_SHIFT = 40 };

static unsigned long counts[STANDIN_FUNCTIONS];

/* Two threads may lose a call between them; nothing is counted while two run. */
#define CALLED(name)                                                                               \
    __atomic_store_n(&counts[STANDIN_##name],                                                      \
                     __atomic_load_n(&counts[STANDIN_##name], __ATOMIC_RELAXED) + 1,               \
                     __ATOMIC_RELAXED)

standin_counts_function standin_counts;
const unsigned long *standin_counts(void)
{
    return counts;
}

/* Contexts, streams and modules are slots, so that what is made after one was destroyed gets its
 * address again, as a real driver may do. Functions belong to a module. */
struct CUctx_st {
    unsigned long long id; /* 0: free */
};
struct CUstream_st {
    CUcontext context; /* NULL: free */
};
struct CUmod_st {
    CUcontext context;
    unsigned long long id; /* of the context when it was loaded */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st contexts[SLOTS]; /* [0] is the primary one */
static struct CUstream_st streams[SLOTS];
static struct CUmod_st modules[SLOTS];
static unsigned module_count;
static size_t allocated[SLOTS]; /* bytes; 0: free */
static unsigned long long next_id = 1;
static _Thread_local CUcontext current;

/* Errors and the GPU ----------------------------------------------------------------------------*/

CUresult cuInit(unsigned flags)
{
    CALLED(cuInit);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    CALLED(cuGetErrorString);
    *text = "an error of the stand-in";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    CALLED(cuGetErrorName);
    *text = "STANDIN_ERROR";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    CALLED(cuDeviceGetCount);
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    CALLED(cuDeviceGetName);
    snprintf(name, (size_t)length, "NVIDIA H200");
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CALLED(cuDeviceTotalMem_v2);
    *bytes = (size_t)141 << 30;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CALLED(cuDeviceGetAttribute);
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = 2048;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 * 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = 60 << 20;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

/* Contexts --------------------------------------------------------------------------------------*/

static CUcontext begin_context(CUcontext context)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; !context && i < SLOTS; i++)
        if (!contexts[i].id)
            context = &contexts[i];
    if (context && !context->id)
        __atomic_store_n(&context->id, next_id++, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return context;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CALLED(cuDevicePrimaryCtxRetain);
    *context = begin_context(&contexts[0]);
    return CUDA_SUCCESS;
}

/* Modules and memory are gone. Its id stays, as it may. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CALLED(cuDevicePrimaryCtxReset_v2);
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].context == &contexts[0])
            modules[i].id = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        allocated[i] = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    CALLED(cuCtxCreate_v2);
    *context = current = begin_context(NULL);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    CALLED(cuCtxDestroy_v2);
    __atomic_store_n(&context->id, 0, __ATOMIC_RELAXED);
    if (current == context)
        current = NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CALLED(cuCtxSetCurrent);
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CALLED(cuCtxGetCurrent);
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    CALLED(cuCtxGetDevice);
    *device = 0;
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CALLED(cuCtxGetId);
    if (!context)
        context = current;
    *id = context ? __atomic_load_n(&context->id, __ATOMIC_RELAXED) : 0;
    return *id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Memory ----------------------------------------------------------------------------------------*/

/* An allocation is a slot of 1 TiB of addresses that nobody can follow; the first free one is
 * taken, so that what was freed is given out again. */
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    CALLED(cuMemAlloc_v2);
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < SLOTS && allocated[i])
        i++;
    if (i < SLOTS)
        __atomic_store_n(&allocated[i], bytes, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    *address = ((CUdeviceptr)i + 1) << SLOT_SHIFT;
    return i < SLOTS ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static size_t *allocation_of(CUdeviceptr address)
{
    CUdeviceptr slot = address >> SLOT_SHIFT;
    return slot >= 1 && slot <= SLOTS ? &allocated[slot - 1] : NULL;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    CALLED(cuMemFree_v2);
    size_t *bytes = allocation_of(address);
    if (!bytes || !__atomic_exchange_n(bytes, 0, __ATOMIC_RELAXED))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    CALLED(cuPointerGetAttribute);
    const size_t *bytes = allocation_of(address);
    CUdeviceptr offset = address & (((CUdeviceptr)1 << SLOT_SHIFT) - 1);
    *(unsigned *)data = CU_MEMORYTYPE_DEVICE;
    return bytes && offset < __atomic_load_n(bytes, __ATOMIC_RELAXED) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_VALUE;
}

/* Streams ---------------------------------------------------------------------------------------*/

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    CALLED(cuStreamCreate);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < SLOTS && result != CUDA_SUCCESS; i++)
        if (!streams[i].context) {
            *stream = &streams[i];
            streams[i].context = current;
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CALLED(cuStreamDestroy_v2);
    stream->context = NULL;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    CALLED(cuStreamGetCtx);
    *context = stream->context;
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *sizes, const cuuint64_t *pitches,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    CALLED(cuTensorMapEncodeTiled);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CALLED(cuStreamSynchronize);
    return CUDA_SUCCESS;
}

/* Kernels ---------------------------------------------------------------------------------------*/

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    CALLED(cuModuleLoadDataEx);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (module_count < SLOTS) {
        *module = &modules[module_count++];
        **module = (struct CUmod_st){current, current->id};
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuModuleUnload(CUmodule module)
{
    CALLED(cuModuleUnload);
    module->id = 0;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CALLED(cuModuleGetFunction);
    *function = (CUfunction)module;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CALLED(cuFuncSetAttribute);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    CALLED(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    *blocks = 2048 / threads;
    return CUDA_SUCCESS;
}

/* The module must be loaded, in the context that is current, and the stream belong to that. */
static CUresult launch(CUfunction function, CUstream stream)
{
    CUmodule module = (CUmodule)function;
    if (module->context != current || module->id != current->id)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((uintptr_t)stream > 2 && stream->context != current)
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned tx,
                        unsigned ty, unsigned tz, unsigned shared, CUstream stream,
                        void **arguments, void **extra)
{
    CALLED(cuLaunchKernel);
    return launch(function, stream);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **extra)
{
    CALLED(cuLaunchKernelEx);
    return launch(function, config->hStream);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                                   unsigned tx, unsigned ty, unsigned tz, unsigned shared,
                                   CUstream stream, void **arguments)
{
    CALLED(cuLaunchCooperativeKernel);
    return launch(function, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
    CALLED(cuMemsetD8Async);
    return CUDA_SUCCESS;
}
