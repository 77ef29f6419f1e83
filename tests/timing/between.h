// between.h: the time between two events, for the programs here.
#include <cuda_runtime.h>

// Milliseconds that launch() takes; -1 if events fail.
template <typename Launch> static float between(Launch launch)
{
    cudaEvent_t from, to;
    float ms = -1;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from);
    launch();
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&ms, from, to);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return ms;
}
