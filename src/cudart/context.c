/*
 * context.c: which device and context a thread uses. The runtime works on primary contexts, which
 * it makes at the first call that needs one; a context that the program made current through the
 * driver API is respected.
 */
#include "cudart/cudart.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_DEVICES = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudart_code initialize_result;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES]; /* NULL: not retained */
static atomic_uint resets;             /* a thread that saw fewer must not use its context */

static _Thread_local int thread_device;
static _Thread_local unsigned thread_resets;

/* The driver cannot be used in the child of a process that used it, and a lock may be held there by
 * a thread that the child does not have. */
static void in_child(void)
{
    initialize_result = cudaErrorInitializationError;
    pthread_mutex_init(&lock, NULL);
    cudart_registry_forked();
}

static void initialize(void)
{
    initialize_result = cuInit(0);
    pthread_atfork(NULL, NULL, in_child);
}

cudart_code cudart_initialize(void)
{
    pthread_once(&once, initialize);
    return initialize_result;
}

cudart_code cudart_device_count(int *count)
{
    *count = 0;
    cudart_code error = cudart_initialize();
    return error ? error : (cudart_code)cuDeviceGetCount(count);
}

cudart_code cudart_primary_context(int device, CUcontext *context)
{
    int count;
    cudart_code error = cudart_device_count(&count);
    if (error)
        return error;
    if (device < 0 || device >= count || device >= MAX_DEVICES)
        return cudaErrorInvalidDevice;
    pthread_mutex_lock(&lock);
    if (!primary[device])
        error = cuDevicePrimaryCtxRetain(&primary[device], device);
    *context = primary[device];
    pthread_mutex_unlock(&lock);
    return error;
}

static cudart_code bind_device(int device)
{
    CUcontext context;
    cudart_code error = cudart_primary_context(device, &context);
    return error ? error : (cudart_code)cuCtxSetCurrent(context);
}

cudart_code cudart_enter(void)
{
    cudart_code error = cudart_initialize();
    if (error)
        return error;
    CUcontext context = NULL;
    unsigned now = atomic_load(&resets);
    if (thread_resets == now && !cuCtxGetCurrent(&context) && context)
        return 0;
    thread_resets = now;
    return bind_device(thread_device);
}

CUcontext cudart_current_context(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

int cudart_device(void)
{
    CUcontext context = NULL;
    CUdevice device;
    if (!cudart_initialize() && thread_resets == atomic_load(&resets) &&
        !cuCtxGetCurrent(&context) && context && !cuCtxGetDevice(&device))
        return device;
    return thread_device;
}

cudaError_t cudaSetDevice(int device)
{
    int count;
    cudart_code error = cudart_device_count(&count);
    if (error)
        return cudart_finish(error);
    if (device < 0 || device >= count)
        return cudart_finish(cudaErrorInvalidDevice);
    thread_device = device;
    thread_resets = atomic_load(&resets);
    return cudart_finish(bind_device(device));
}

cudaError_t cudaGetDevice(int *device)
{
    cudart_code error = cudart_initialize();
    if (error || !device)
        return cudart_finish(error ? error : cudaErrorInvalidValue);
    *device = cudart_device();
    return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned deviceFlags, unsigned flags)
{
    CUcontext context;
    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
        return cudart_finish(cudaErrorInvalidValue);
    cudart_code error = cudart_initialize();
    if (!error && flags)
        error = cuDevicePrimaryCtxSetFlags_v2(device, deviceFlags & ~(unsigned)cudaDeviceMapHost);
    return cudart_finish(error ? error : cudart_primary_context(device, &context));
}

cudaError_t cudaSetValidDevices(int *devices, int length)
{
    int count;
    cudart_code error = cudart_device_count(&count);
    if (error)
        return cudart_finish(error);
    if (length < 0 || (length && !devices))
        return cudart_finish(cudaErrorInvalidValue);
    for (int i = 0; i < length; i++)
        if (devices[i] < 0 || devices[i] >= count)
            return cudart_finish(cudaErrorInvalidDevice);
    if (length)
        thread_device = devices[0];
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    const unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax |
                           cudaDeviceSyncMemops;
    if (flags & ~known)
        return cudart_finish(cudaErrorInvalidValue);
    cudart_code error = cudart_initialize();
    /* The runtime always maps host memory, so the driver is not asked for it. */
    flags &= ~(unsigned)cudaDeviceMapHost;
    return cudart_finish(
        error ? error : (cudart_code)cuDevicePrimaryCtxSetFlags_v2(cudart_device(), flags));
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    int active;
    cudart_code error = cudart_initialize();
    if (error || !flags)
        return cudart_finish(error ? error : cudaErrorInvalidValue);
    error = cuDevicePrimaryCtxGetState(cudart_device(), flags, &active);
    *flags |= cudaDeviceMapHost;
    return cudart_finish(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    return CUDART_CALL(cuCtxSynchronize());
}

cudaError_t cudaDeviceReset(void)
{
    cudart_code error = cudart_initialize();
    if (error)
        return cudart_finish(error);
    int device = cudart_device();
    pthread_mutex_lock(&lock);
    CUcontext context = NULL;
    if (!cuCtxGetCurrent(&context) && context && context == primary[device])
        cuCtxSetCurrent(NULL);
    error = cuDevicePrimaryCtxReset_v2(device);
    primary[device] = NULL;
    atomic_fetch_add(&resets, 1);
    pthread_mutex_unlock(&lock);
    return cudart_finish(error);
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}
#endif
