/*
 * generic_overlapped.cu: overlapped for every operation and element type but the sum of floats. It
 * shows no new technique; see overlapped.cu for what the numbers mean.
 */
// arch: sm_90
#include "generic.h"

#define BLOCK 512 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16
#define LOADS 2 // tune: 1 2 4
#define LAST 128 // tune: 128 256 512 1024
#define ALONE 64 // tune: 16 32 64 128

// An SM has room for 2048 threads; the registers are to leave it.
#define KERNELS(operation, Operation, type, T, V)                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK, 2048 / BLOCK)                              \
        reduce_##operation##_##type(const T *in, long long n, Operation<V>::Acc *partials,         \
                                    Operation<V>::Out *result)                                     \
    {                                                                                              \
        cudaTriggerProgrammaticLaunchCompletion();                                                 \
        first_pass<Operation<V>, T, UNROLL>(in, n, partials, result);                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(LAST) again_##operation##_##type(                 \
        const Operation<V>::Acc *partials, int n, Operation<V>::Out *result)                       \
    {                                                                                              \
        cudaGridDependencySynchronize();                                                           \
        last_pass<Operation<V>, UNROLL>(partials, n, result);                                      \
    }
EACH_OPERATION_AND_TYPE(KERNELS)
