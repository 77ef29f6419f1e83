/*
 * ipc.c: memory and events that are shared with other processes, by handles or by pools.
 */
#include "cudart/cudart.h"

#include <stdint.h>

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    return CUDART_CALL(cuIpcGetMemHandle(handle, (CUdeviceptr)(uintptr_t)devPtr));
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned flags)
{
    return CUDART_CALL(cuIpcOpenMemHandle_v2((CUdeviceptr *)devPtr, handle, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    return CUDART_CALL(cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)devPtr));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    return CUDART_CALL(cuIpcGetEventHandle(handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    return CUDART_CALL(cuIpcOpenEventHandle(event, handle));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               CUmemAllocationHandleType handleType, unsigned flags)
{
    return CUDART_CALL(
        cuMemPoolExportToShareableHandle(shareableHandle, memPool, handleType, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 CUmemAllocationHandleType handleType,
                                                 unsigned flags)
{
    return CUDART_CALL(
        cuMemPoolImportFromShareableHandle(memPool, shareableHandle, handleType, flags));
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *exportData, void *ptr)
{
    return CUDART_CALL(cuMemPoolExportPointer(exportData, (CUdeviceptr)(uintptr_t)ptr));
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
                                     cudaMemPoolPtrExportData *exportData)
{
    return CUDART_CALL(cuMemPoolImportPointer((CUdeviceptr *)ptr, memPool, exportData));
}
