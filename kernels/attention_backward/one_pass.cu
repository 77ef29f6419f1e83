/*
 * one_pass.cu: five products instead of seven: one_pass.h says how. The first pass clears the sums
 * of dQ, the second adds to them, a last one rounds them.
 */
// arch: sm_90a
#include "one_pass.h"

/* The first pass of backward.h with eight numbers to a thread, which also clears the sums. */
template <class type, int DIM>
static __device__ __forceinline__ void prepare_sums(const backward_arguments &g)
{
    const int lanes = DIM / 8; /* of a row */
    int row = (blockIdx.x * 256 + threadIdx.x) / lanes, head = blockIdx.y;
    int column = threadIdx.x % lanes * 8;
    float sum = 0;
    if (row < g.queries)
        sum = multiply_eight<type>(g, ((long long)head * g.queries + row) * DIM + column);
    put_row<lanes>(g, head, row, sum);
    float4 *to = (float4 *)(sums_of(g, head, row) + column);
    to[0] = to[1] = make_float4(0, 0, 0, 0);
}

#define ONE_PASS(type, dim)                                                                        \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        prepare_##type##_##dim(const __grid_constant__ backward_arguments g)                       \
    {                                                                                              \
        prepare_sums<type, dim>(g);                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        one_pass_##type##_##dim(const __grid_constant__ backward_arguments g)                      \
    {                                                                                              \
        one_pass<type, dim, PLAIN>::run(g);                                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        round_##type##_##dim(const __grid_constant__ backward_arguments g)                         \
    {                                                                                              \
        one_pass<type, dim, PLAIN>::round(g);                                                      \
    }
ONE_PASS(bf16, 64)
ONE_PASS(bf16, 128)
ONE_PASS(f16, 64)
ONE_PASS(f16, 128)
