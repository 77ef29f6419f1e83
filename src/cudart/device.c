/*
 * device.c: what the devices are and how they are set up: count, attributes, limits, peers,
 * versions. Properties as one structure are in device_properties.c; contexts in context.c.
 */
#include "cudart/cudart.h"

#include <string.h>

static cudart_code check_device(int device)
{
    int count;
    cudart_code error = cudart_device_count(&count);
    if (error)
        return error;
    return device < 0 || device >= count ? (cudart_code)cudaErrorInvalidDevice : 0;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    return cudart_finish(count ? cudart_device_count(count) : (cudart_code)cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetAttribute(int *value, CUdevice_attribute attr, int device)
{
    cudart_code error = check_device(device);
    return cudart_finish(error ?: (cudart_code)cuDeviceGetAttribute(value, attr, device));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attr, int srcDevice,
                                      int dstDevice)
{
    cudart_code error = check_device(srcDevice) ?: check_device(dstDevice);
    return cudart_finish(
        error ?: (cudart_code)cuDeviceGetP2PAttribute(value, attr, srcDevice, dstDevice));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    cudart_code error = cudart_initialize();
    return cudart_finish(error ?: (cudart_code)cuDeviceGetByPCIBusId(device, pciBusId));
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    cudart_code error = check_device(device);
    return cudart_finish(error ?: (cudart_code)cuDeviceGetPCIBusId(pciBusId, len, device));
}

/* Peers ---------------------------------------------------------------------------------------- */

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    cudart_code error = check_device(device) ?: check_device(peerDevice);
    return cudart_finish(
        error ?: (cudart_code)cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned flags)
{
    CUcontext peer = NULL;
    cudart_code error = check_device(peerDevice) ?: cudart_enter();
    if (!error && peerDevice == cudart_device())
        error = cudaErrorPeerAccessUnsupported;
    if (!error)
        error = cudart_primary_context(peerDevice, &peer);
    return cudart_finish(error ?: (cudart_code)cuCtxEnablePeerAccess(peer, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer = NULL;
    cudart_code error = check_device(peerDevice) ?: cudart_enter();
    if (!error && peerDevice == cudart_device())
        error = cudaErrorPeerAccessNotEnabled;
    if (!error)
        error = cudart_primary_context(peerDevice, &peer);
    return cudart_finish(error ?: (cudart_code)cuCtxDisablePeerAccess(peer));
}

/* Limits and preferences ----------------------------------------------------------------------- */

cudaError_t cudaDeviceSetLimit(CUlimit limit, size_t value)
{
    return CUDART_CALL(cuCtxSetLimit(limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, CUlimit limit)
{
    return CUDART_CALL(cuCtxGetLimit(pValue, limit));
}

cudaError_t cudaDeviceGetCacheConfig(CUfunc_cache *pCacheConfig)
{
    return CUDART_CALL(cuCtxGetCacheConfig(pCacheConfig));
}

cudaError_t cudaDeviceSetCacheConfig(CUfunc_cache cacheConfig)
{
    return CUDART_CALL(cuCtxSetCacheConfig(cacheConfig));
}

cudaError_t cudaDeviceGetSharedMemConfig(CUsharedconfig *pConfig)
{
    return CUDART_CALL(cuCtxGetSharedMemConfig(pConfig));
}

cudaError_t cudaDeviceSetSharedMemConfig(CUsharedconfig config)
{
    return CUDART_CALL(cuCtxSetSharedMemConfig(config));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    return CUDART_CALL(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return CUDART_CALL(cuCtxResetPersistingL2Cache());
}

/* Nothing outside the process writes to simulated memory, so there is nothing to wait for. */
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope)
{
    return CUDART_CALL(0);
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaThreadSetLimit(CUlimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *pValue, CUlimit limit)
{
    return cudaDeviceGetLimit(pValue, limit);
}

cudaError_t cudaThreadGetCacheConfig(CUfunc_cache *pCacheConfig)
{
    return cudaDeviceGetCacheConfig(pCacheConfig);
}

cudaError_t cudaThreadSetCacheConfig(CUfunc_cache cacheConfig)
{
    return cudaDeviceSetCacheConfig(cacheConfig);
}

/* Meant for GPUs without double precision; nothing to convert on any GPU that CUDA 12 knows. */
cudaError_t cudaSetDoubleForDevice(double *d)
{
    return cudaSuccess;
}

cudaError_t cudaSetDoubleForHost(double *d)
{
    return cudaSuccess;
}
#endif

/* Versions, entry points, profiler ------------------------------------------------------------- */

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return cudart_finish(cudaErrorInvalidValue);
    return cudart_finish(cuDriverGetVersion(driverVersion));
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return cudart_finish(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               unsigned long long flags, CUdriverProcAddressQueryResult *status)
{
    if (!symbol || !function)
        return cudart_finish(cudaErrorInvalidValue);
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    cudart_code error =
        cudart_initialize()
            ?: (cudart_code)cuGetProcAddress_v2(symbol, function, (int)version, flags, &answer);
    /* A symbol that is not there is an answer when the caller asks for one. */
    if (error == CUDA_ERROR_NOT_FOUND) {
        *function = NULL;
        error = status ? 0 : (cudart_code)cudaErrorSymbolNotFound;
    }
    if (status)
        *status = answer;
    return cudart_finish(error);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                             unsigned cudaVersion, unsigned long long flags,
                                             CUdriverProcAddressQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    CUdriverProcAddressQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

/* Built for per-thread default streams: that is what the default flags mean. */
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **funcPtr,
                                                  unsigned cudaVersion, unsigned long long flags,
                                                  CUdriverProcAddressQueryResult *driverStatus)
{
    if (flags == CU_GET_PROC_ADDRESS_DEFAULT)
        flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr,
                                         unsigned long long flags,
                                         CUdriverProcAddressQueryResult *driverStatus)
{
    return cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, CUDART_VERSION, flags,
                                                 driverStatus);
}

/* NVIDIA's private interfaces between its libraries: quietly refused, libraries probe for them. */
cudaError_t cudaGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (ppExportTable)
        *ppExportTable = NULL;
    return cudart_finish(cudaErrorNotSupported);
}

cudaError_t cudaProfilerStart(void)
{
    return CUDART_CALL(cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
    return CUDART_CALL(cuProfilerStop());
}
