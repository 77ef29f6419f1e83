/*
 * generic.cu: vectorised for every operation and element type but the sum of floats. It shows no new
 * technique; templates make the kernels, reduce_max_i32 and again_max_i32 for instance.
 */
// arch: sm_75
#include "generic.h"

#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8 16 32 64
#define LAST 256 // threads of the last pass, as in reduction.c

#define KERNELS(operation, Operation, type, T, V)                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK) reduce_##operation##_##type(               \
        const T *in, long long n, Operation<V>::Acc *partials, Operation<V>::Out *result)          \
    {                                                                                              \
        first_pass<Operation<V>, T, UNROLL>(in, n, partials, result);                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(LAST) again_##operation##_##type(                 \
        const Operation<V>::Acc *partials, int n, Operation<V>::Out *result)                       \
    {                                                                                              \
        last_pass<Operation<V>, UNROLL>(partials, n, result);                                      \
    }
EACH_OPERATION_AND_TYPE(KERNELS)
