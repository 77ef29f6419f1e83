/*
 * generic_cluster.cu: rows that one block's registers do not hold, or not well, for every type,
 * operation and mask: the blocks of a cluster share a row. It shows no new technique; cluster.cu
 * does.
 */
// arch: sm_90
#include "generic.h"

#define VECTORS 8 // tune: 2 4 8
#define THREADS 256 // tune: 128 256 512 1024; more where 8 blocks of them do not hold a row

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(1024) plain_##type(ARGUMENTS(T))                  \
    {                                                                                              \
        forward_plain_cluster<T, VECTORS>(FORWARD(T));                                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) cluster_##type(ARGUMENTS(T))                \
    {                                                                                              \
        forward_cluster<T, VECTORS, false>(FORWARD(T));                                            \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) cluster_bias_##type(ARGUMENTS(T))           \
    {                                                                                              \
        forward_cluster<T, VECTORS / 2, true>(FORWARD(T));                                         \
    }
KERNELS(f32, float)
KERNELS(f16, f16)
KERNELS(bf16, bf16)
