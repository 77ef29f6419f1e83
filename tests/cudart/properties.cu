// properties.cu: cudaDeviceProp of the simulated H200 agrees with a real one's.
// cuda: 13.0
#include "check.h"
#include <cstring>

int main()
{
    int count, value, version;
    MUST(cudaGetDeviceCount(&count));
    cudaDeviceProp p;
    MUST(cudaGetDeviceProperties(&p, 0));
    printf("%d %s %d.%d\n", count, p.name, p.major, p.minor);
    printf("warp %d, threads %d a block %d an SM, SMs %d\n", p.warpSize, p.maxThreadsPerBlock,
           p.maxThreadsPerMultiProcessor, p.multiProcessorCount);
    printf("block %d %d %d grid %d %d %d\n", p.maxThreadsDim[0], p.maxThreadsDim[1],
           p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("shared %zu %zu %zu reserved %zu\n", p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
           p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock);
    printf("registers %d %d, constant %zu, L2 %d, bus %d\n", p.regsPerBlock,
           p.regsPerMultiprocessor, p.totalConstMem, p.l2CacheSize, p.memoryBusWidth);
    printf("unified %d managed %d cooperative %d pools %d clusters %d blocks %d\n",
           p.unifiedAddressing, p.managedMemory, p.cooperativeLaunch, p.memoryPoolsSupported,
           p.clusterLaunch, p.maxBlocksPerMultiProcessor);
    printf("memory over 100 GB: %d\n", p.totalGlobalMem > 100000000000ull);
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    printf("%d\n", value == (int)p.sharedMemPerBlockOptin);
    MUST(cudaRuntimeGetVersion(&version));
    printf("runtime %d\n", version);
    MUST(cudaDriverGetVersion(&version));
    printf("driver at least %d: %d\n", CUDART_VERSION, version >= CUDART_VERSION);
    cudaDeviceProp wish;
    memset(&wish, 0, sizeof wish);
    wish.major = 8;
    MUST(cudaChooseDevice(&value, &wish));
    printf("chosen %d\n", value);
    int least, greatest;
    MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("priorities %d %d\n", least, greatest);
    unsigned flags;
    MUST(cudaGetDeviceFlags(&flags));
    printf("flags %u\n", flags);
    char bus[20];
    MUST(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    MUST(cudaDeviceGetByPCIBusId(&value, bus));
    printf("by bus %d\n", value);
    size_t limit;
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    printf("heap %zu\n", limit);
    MUST(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    MUST(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    printf("stack %zu\n", limit);
}
