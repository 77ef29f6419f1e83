/*
 * ragged.cu: one_pass for sequences of any length, packed one after the other or with padding
 * behind their keys; for windows; and, by kernels of their own, for ALiBi and dropout, whose bits
 * are made anew from the place of a weight while the tensor cores are busy. A block finds its
 * sequence by the tiles that those before it have. TMA brings zeros from behind a sequence's end
 * (ragged.h).
 */
// arch: sm_90a
#include "one_pass.h"

/* The first pass of backward.h with eight numbers to a thread, which also clears the sums. */
template <class type, int DIM>
static __device__ __forceinline__ void prepare_ragged(const backward_arguments &g)
{
    const int lanes = DIM / 8; /* of a row */
    int row = (blockIdx.x * 256 + threadIdx.x) / lanes, head = blockIdx.y;
    int column = threadIdx.x % lanes * 8;
    sequence s = sequence_of_row(g, row, head);
    bool is_one = row < s.queries;
    long long from = (s.q_first + row) * g.lse_row + (long long)head * g.lse_head;
    float sum = is_one ? multiply_eight<type>(g, q_at(g, s, head, row) + column) : 0;
    sum = sum_of_lanes<lanes>(sum);
    if (threadIdx.x % lanes == 0) {
        row_at(g, s, head, row)[0] = lse_in_log2(g.lse, from, is_one);
        row_at(g, s, head, row)[g.rows] = sum;
    }
    float4 *to = (float4 *)(ragged_sums(g, s, head, row) + column);
    to[0] = to[1] = make_float4(0, 0, 0, 0);
}

#define RAGGED_KERNELS(type, dim)                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        prepare_##type##_##dim(const __grid_constant__ backward_arguments g)                       \
    {                                                                                              \
        prepare_ragged<type, dim>(g);                                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        ragged_##type##_##dim(const __grid_constant__ backward_arguments g)                        \
    {                                                                                              \
        one_pass<type, dim, RAGGED>::run(g);                                                       \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        bent_##type##_##dim(const __grid_constant__ backward_arguments g)                          \
    {                                                                                              \
        one_pass<type, dim, BENT>::run(g);                                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        round_##type##_##dim(const __grid_constant__ backward_arguments g)                         \
    {                                                                                              \
        one_pass<type, dim, RAGGED>::round(g);                                                     \
    }
RAGGED_KERNELS(bf16, 64)
RAGGED_KERNELS(bf16, 128)
RAGGED_KERNELS(f16, 64)
RAGGED_KERNELS(f16, 128)
