/*
 * abi.c: prints the sizes, offsets and values of the runtime's types. run.sh compiles it twice,
 * with our declarations (-DOURS) and with NVIDIA's header, and compares what the two print.
 */
#include <stddef.h>
#include <stdio.h>
#ifdef OURS
#include "cudart/cudart_abi.h"
#define TAG(name) name
#define VALUE_OF_ATTRIBUTE value
#else
#include <cuda_runtime_api.h>
#define TAG(name) struct name
#define VALUE_OF_ATTRIBUTE val
#define CUDART_VERSION_MAJOR (CUDART_VERSION / 1000)
#endif
#define NAME(name) name

struct row {
    int line; /* tells equal fields of several types apart */
    const char *words;
    long long value;
};

#define SIZE {__LINE__, "size", sizeof(TYPE)},
#define FIELD(field) {__LINE__, #field, offsetof(TYPE, field)},
#define VALUE(name) {__LINE__, #name, (int)name},

/* clang-format off */
static const struct row rows[] = {
#define TYPE TAG(cudaDeviceProp)
    SIZE FIELD(name) FIELD(uuid) FIELD(luid) FIELD(luidDeviceNodeMask) FIELD(totalGlobalMem)
    FIELD(sharedMemPerBlock) FIELD(regsPerBlock) FIELD(warpSize) FIELD(memPitch)
    FIELD(maxThreadsPerBlock) FIELD(maxThreadsDim) FIELD(maxGridSize) FIELD(totalConstMem)
    FIELD(major) FIELD(minor) FIELD(textureAlignment) FIELD(texturePitchAlignment)
    FIELD(multiProcessorCount) FIELD(integrated) FIELD(canMapHostMemory) FIELD(maxTexture1D)
    FIELD(maxTexture1DMipmap) FIELD(maxTexture2D) FIELD(maxTexture2DMipmap)
    FIELD(maxTexture2DLinear) FIELD(maxTexture2DGather) FIELD(maxTexture3D) FIELD(maxTexture3DAlt)
    FIELD(maxTextureCubemap) FIELD(maxTexture1DLayered) FIELD(maxTexture2DLayered)
    FIELD(maxTextureCubemapLayered) FIELD(maxSurface1D) FIELD(maxSurface2D) FIELD(maxSurface3D)
    FIELD(maxSurface1DLayered) FIELD(maxSurface2DLayered) FIELD(maxSurfaceCubemap)
    FIELD(maxSurfaceCubemapLayered) FIELD(surfaceAlignment) FIELD(concurrentKernels)
    FIELD(ECCEnabled) FIELD(pciBusID) FIELD(pciDeviceID) FIELD(pciDomainID) FIELD(tccDriver)
    FIELD(asyncEngineCount) FIELD(unifiedAddressing) FIELD(memoryBusWidth) FIELD(l2CacheSize)
    FIELD(persistingL2CacheMaxSize) FIELD(maxThreadsPerMultiProcessor)
    FIELD(streamPrioritiesSupported) FIELD(globalL1CacheSupported) FIELD(localL1CacheSupported)
    FIELD(sharedMemPerMultiprocessor) FIELD(regsPerMultiprocessor) FIELD(managedMemory)
    FIELD(isMultiGpuBoard) FIELD(multiGpuBoardGroupID) FIELD(hostNativeAtomicSupported)
    FIELD(pageableMemoryAccess) FIELD(concurrentManagedAccess) FIELD(computePreemptionSupported)
    FIELD(canUseHostPointerForRegisteredMem) FIELD(cooperativeLaunch) FIELD(sharedMemPerBlockOptin)
    FIELD(pageableMemoryAccessUsesHostPageTables) FIELD(directManagedMemAccessFromHost)
    FIELD(maxBlocksPerMultiProcessor) FIELD(accessPolicyMaxWindowSize) FIELD(hostRegisterSupported)
    FIELD(reservedSharedMemPerBlock)
    FIELD(sparseCudaArraySupported) FIELD(hostRegisterReadOnlySupported)
    FIELD(timelineSemaphoreInteropSupported) FIELD(memoryPoolsSupported)
    FIELD(gpuDirectRDMASupported) FIELD(gpuDirectRDMAFlushWritesOptions)
    FIELD(gpuDirectRDMAWritesOrdering) FIELD(memoryPoolSupportedHandleTypes)
    FIELD(deferredMappingCudaArraySupported) FIELD(ipcEventSupported) FIELD(clusterLaunch)
    FIELD(unifiedFunctionPointers)
#if CUDART_VERSION_MAJOR == 12
    FIELD(clockRate) FIELD(deviceOverlap) FIELD(kernelExecTimeoutEnabled) FIELD(computeMode)
    FIELD(maxTexture1DLinear) FIELD(memoryClockRate) FIELD(singleToDoublePrecisionPerfRatio)
    FIELD(cooperativeMultiDeviceLaunch)
#endif
#if CUDART_VERSION_MAJOR >= 13
    FIELD(deviceNumaConfig) FIELD(deviceNumaId) FIELD(mpsEnabled) FIELD(hostNumaId)
    FIELD(gpuPciDeviceID) FIELD(gpuPciSubsystemID) FIELD(hostNumaMultinodeIpcSupported)
#endif
#undef TYPE
#define TYPE TAG(cudaPointerAttributes)
    SIZE FIELD(type) FIELD(device) FIELD(devicePointer) FIELD(hostPointer)
#undef TYPE
#define TYPE TAG(cudaFuncAttributes)
    SIZE FIELD(sharedSizeBytes) FIELD(constSizeBytes) FIELD(localSizeBytes)
    FIELD(maxThreadsPerBlock) FIELD(numRegs) FIELD(ptxVersion) FIELD(binaryVersion)
    FIELD(cacheModeCA) FIELD(maxDynamicSharedSizeBytes) FIELD(preferredShmemCarveout)
    FIELD(clusterDimMustBeSet) FIELD(requiredClusterWidth) FIELD(requiredClusterHeight)
    FIELD(requiredClusterDepth) FIELD(clusterSchedulingPolicyPreference)
    FIELD(nonPortableClusterSizeAllowed)
#undef TYPE
#define TYPE NAME(cudaLaunchConfig_t)
    SIZE FIELD(gridDim) FIELD(blockDim) FIELD(dynamicSmemBytes) FIELD(stream) FIELD(attrs)
    FIELD(numAttrs)
#undef TYPE
#define TYPE TAG(cudaKernelNodeParams)
    SIZE FIELD(func) FIELD(gridDim) FIELD(blockDim) FIELD(sharedMemBytes) FIELD(kernelParams)
    FIELD(extra)
#undef TYPE
#define TYPE TAG(cudaMemcpy3DParms)
    SIZE FIELD(srcArray) FIELD(srcPos) FIELD(srcPtr) FIELD(dstArray) FIELD(dstPos) FIELD(dstPtr)
    FIELD(extent) FIELD(kind)
#undef TYPE
#define TYPE TAG(cudaMemcpy3DPeerParms)
    SIZE FIELD(srcArray) FIELD(srcPos) FIELD(srcPtr) FIELD(srcDevice) FIELD(dstArray) FIELD(dstPos)
    FIELD(dstPtr) FIELD(dstDevice) FIELD(extent)
#undef TYPE
#define TYPE TAG(cudaMemcpyNodeParams)
    SIZE FIELD(flags) FIELD(copyParams)
#undef TYPE
#define TYPE TAG(cudaPitchedPtr)
    SIZE FIELD(ptr) FIELD(pitch) FIELD(xsize) FIELD(ysize)
#undef TYPE
#define TYPE TAG(cudaExtent)
    SIZE FIELD(width) FIELD(height) FIELD(depth)
#undef TYPE
#define TYPE TAG(cudaPos)
    SIZE FIELD(x) FIELD(y) FIELD(z)
#undef TYPE
#define TYPE TAG(cudaChannelFormatDesc)
    SIZE FIELD(x) FIELD(y) FIELD(z) FIELD(w) FIELD(f)
#undef TYPE
#define TYPE TAG(cudaGraphNodeParams)
    SIZE FIELD(type) FIELD(kernel) FIELD(memcpy) FIELD(memset) FIELD(host) FIELD(graph)
    FIELD(eventWait) FIELD(eventRecord) FIELD(alloc) FIELD(free)
#undef TYPE
#define TYPE TAG(cudaMemLocation)
    SIZE FIELD(type) FIELD(id)
#undef TYPE
#define TYPE TAG(cudaMemPoolProps)
    SIZE FIELD(allocType) FIELD(handleTypes) FIELD(location) FIELD(win32SecurityAttributes)
    FIELD(maxSize) FIELD(usage)
#undef TYPE
#define TYPE TAG(cudaMemAccessDesc)
    SIZE FIELD(location) FIELD(flags)
#undef TYPE
#define TYPE TAG(cudaMemcpyAttributes)
    SIZE FIELD(srcAccessOrder) FIELD(srcLocHint) FIELD(dstLocHint) FIELD(flags)
#undef TYPE
#define TYPE NAME(cudaLaunchAttribute)
    SIZE FIELD(id) FIELD(VALUE_OF_ATTRIBUTE)
#undef TYPE
#define TYPE NAME(cudaLaunchAttributeValue)
    SIZE FIELD(clusterDim) FIELD(programmaticEvent.triggerAtBlockStart) FIELD(priority)
    FIELD(memSyncDomain) FIELD(preferredClusterDim) FIELD(launchCompletionEvent.flags)
    FIELD(accessPolicyWindow.missProp)
#undef TYPE
#define TYPE NAME(cudaGraphEdgeData)
    SIZE FIELD(from_port) FIELD(to_port) FIELD(type)
#undef TYPE
#define TYPE NAME(cudaGraphInstantiateParams)
    SIZE FIELD(flags) FIELD(result_out)
#undef TYPE
#define TYPE NAME(cudaGraphExecUpdateResultInfo)
    SIZE FIELD(result) FIELD(errorNode) FIELD(errorFromNode)
#undef TYPE
#define TYPE TAG(cudaMemsetParams)
    SIZE FIELD(dst) FIELD(pitch) FIELD(value) FIELD(elementSize) FIELD(width) FIELD(height)
#undef TYPE
#define TYPE TAG(cudaHostNodeParams)
    SIZE FIELD(fn) FIELD(userData)
#undef TYPE
#define TYPE TAG(cudaMemAllocNodeParams)
    SIZE FIELD(poolProps) FIELD(accessDescs) FIELD(accessDescCount) FIELD(bytesize) FIELD(dptr)
#undef TYPE
#define TYPE TAG(cudaMemcpy3DBatchOp)
    SIZE FIELD(src) FIELD(dst) FIELD(extent) FIELD(srcAccessOrder) FIELD(flags)
#undef TYPE
#define TYPE NAME(dim3)
    SIZE
#undef TYPE
    VALUE(cudaMemcpyHostToHost) VALUE(cudaMemcpyHostToDevice) VALUE(cudaMemcpyDeviceToHost)
    VALUE(cudaMemcpyDeviceToDevice) VALUE(cudaMemcpyDefault) VALUE(cudaMemoryTypeUnregistered)
    VALUE(cudaMemoryTypeHost) VALUE(cudaMemoryTypeDevice) VALUE(cudaMemoryTypeManaged)
    VALUE(cudaDeviceScheduleMask) VALUE(cudaDeviceMapHost) VALUE(cudaDeviceLmemResizeToMax)
    VALUE(cudaDeviceSyncMemops) VALUE(cudaHostAllocMapped) VALUE(cudaHostRegisterMapped)
    VALUE(cudaInitDeviceFlagsAreValid)
#define ERROR(name, value, text) VALUE(name)
#include "cuda/runtime_errors.def"
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("line %d: %s %lld\n", rows[i].line, rows[i].words, rows[i].value);
    return 0;
}
