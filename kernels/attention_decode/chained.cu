/*
 * chained.cu: packed.cu on Hopper, where the kernel that merges is launched while the other one
 * still runs (programmatic dependent launch): its blocks are in their places when the last share is
 * done, instead of some microseconds later.
 */
// arch: sm_90
#include "packed.h"

static __device__ __forceinline__ void let_next_begin(void)
{
    cudaTriggerProgrammaticLaunchCompletion();
}
static __device__ __forceinline__ void wait_for_previous(void)
{
    cudaGridDependencySynchronize();
}
DECODES(bf16)
DECODES(f16)
