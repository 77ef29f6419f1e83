/*
 * generic.cu: rows that fit the registers of a block, for every type, operation and mask: short
 * ones go to some lanes of a warp, longer ones to a block, up to VECTORS vectors a thread. It shows
 * no new technique (registers.cu does); rows that are too long are read twice, as online.cu does.
 */
// arch: sm_80
#include "generic.h"

#define VECTORS 8 // tune: 2 4 8
#define PLAIN 4 // tune: 4; vectors a thread of plain rows: three blocks of 512 on an SM

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(512, 3) plain_##type(ARGUMENTS(T))                \
    {                                                                                              \
        forward_plain<T, PLAIN>(FORWARD(T));                                                       \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        short_##type(ARGUMENTS(T), unsigned log_lanes)                                             \
    {                                                                                              \
        forward_lanes<T, 1, false>(FORWARD(T), log_lanes);                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        lanes_##type(ARGUMENTS(T), unsigned log_lanes)                                             \
    {                                                                                              \
        forward_lanes<T, 4, false>(FORWARD(T), log_lanes);                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) block_##type(ARGUMENTS(T))                  \
    {                                                                                              \
        forward_block<T, VECTORS, false>(FORWARD(T));                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) long_##type(ARGUMENTS(T))                   \
    {                                                                                              \
        forward_long<T, 4, false>(FORWARD(T));                                                     \
    }
KERNELS(f32, float)
KERNELS(f16, f16)
KERNELS(bf16, bf16)

// With a bias, which is kept in registers beside the row: so there is room for half as many
// vectors.
#define BIAS_KERNELS(type, T)                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        short_bias_##type(ARGUMENTS(T), unsigned log_lanes)                                        \
    {                                                                                              \
        forward_lanes<T, 1, true>(FORWARD(T), log_lanes);                                          \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        lanes_bias_##type(ARGUMENTS(T), unsigned log_lanes)                                        \
    {                                                                                              \
        forward_lanes<T, 4, true>(FORWARD(T), log_lanes);                                          \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) block_bias_##type(ARGUMENTS(T))             \
    {                                                                                              \
        forward_block<T, VECTORS / 2, true>(FORWARD(T));                                           \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) long_bias_##type(ARGUMENTS(T))              \
    {                                                                                              \
        forward_long<T, 2, true>(FORWARD(T));                                                      \
    }
BIAS_KERNELS(f32, float)
BIAS_KERNELS(f16, f16)
BIAS_KERNELS(bf16, bf16)
