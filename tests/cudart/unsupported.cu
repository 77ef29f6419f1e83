// unsupported.cu: unsupported calls print a message and return cudaErrorNotSupported.
// needs: cuda_profiler_api.h
// simulated: a real GPU has these
#include "check.h"
#include <cuda_profiler_api.h>

int main()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    printf("%d %d %d\n", format.x, format.y, format.f);
    cudaExternalMemory_t memory;
    SHOW(cudaImportExternalMemory(&memory, nullptr));
    SHOW(cudaImportExternalMemory(&memory, nullptr));
    SHOW(cudaProfilerStart());
    SHOW(cudaProfilerStop());
}
