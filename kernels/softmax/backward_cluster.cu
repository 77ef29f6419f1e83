/*
 * backward_cluster.cu: the gradient of rows that one block's registers do not hold, or not well:
 * the blocks of a cluster share a row and add up their sums in distributed shared memory, as
 * cluster.cu does.
 */
// arch: sm_90
#include "gradient.h"

#define VECTORS 4 // tune: 1 2 4
#define THREADS 512 // tune: 128 256 512 1024; more where 8 blocks of them do not hold a row

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(1024) plain_##type(GRADIENT_ARGUMENTS(T))         \
    {                                                                                              \
        gradient_plain_cluster<T, VECTORS>(GRADIENT(T));                                           \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) cluster_##type(GRADIENT_ARGUMENTS(T))       \
    {                                                                                              \
        gradient_cluster<T, VECTORS>(GRADIENT(T));                                                 \
    }
KERNELS(f32, float)
KERNELS(f16, f16)
KERNELS(bf16, bf16)
