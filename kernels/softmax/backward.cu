/*
 * backward.cu: the gradient, with y and dy of a row in registers (gradient.h has the bodies): some
 * lanes of a warp for a short row, a block for a longer one, two reads for one that does not fit.
 * All types, softmax and log-softmax, all masks.
 */
// arch: sm_80
#include "gradient.h"

#define VECTORS 4 // tune: 1 2 4

#define PLAIN 4 // tune: 4; vectors a thread of plain rows

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(512, 2) plain_##type(GRADIENT_ARGUMENTS(T))       \
    {                                                                                              \
        gradient_plain<T, PLAIN>(GRADIENT(T));                                                     \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        short_##type(GRADIENT_ARGUMENTS(T), unsigned log_lanes)                                    \
    {                                                                                              \
        gradient_lanes<T, 1>(GRADIENT(T), log_lanes);                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        lanes_##type(GRADIENT_ARGUMENTS(T), unsigned log_lanes)                                    \
    {                                                                                              \
        gradient_lanes<T, 4>(GRADIENT(T), log_lanes);                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) block_##type(GRADIENT_ARGUMENTS(T))         \
    {                                                                                              \
        gradient_block<T, VECTORS>(GRADIENT(T));                                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) long_##type(GRADIENT_ARGUMENTS(T))          \
    {                                                                                              \
        gradient_long<T, 2>(GRADIENT(T));                                                          \
    }
KERNELS(f32, float)
KERNELS(f16, f16)
KERNELS(bf16, bf16)
