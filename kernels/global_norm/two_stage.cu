/*
 * two_stage.cu: a grid that fits the GPU walks over all units, 16 bytes at a time; each block stores its
 * sum, and one block adds those in a fixed order. The same bits in every run, and no atomics.
 */
// arch: sm_80
#include "squares.h"

#define BLOCKS_PER_SM 8 // tune: 4 8

template <class T>
static __device__ __forceinline__ void add_units(const char *grad, const tensor *table, int tensors,
                                                 long long units, double *parts)
{
    double mine = 0;
#pragma unroll 1
    for (long long unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const tensor *t = &table[find_tensor(table, tensors, unit)];
        long long begin = (unit - t->first) * UNIT;
        mine += squares_of_thread((const T *)(grad + t->grad), begin, min(begin + UNIT, t->count));
    }
    mine = sum_of_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

ADD_UNITS(squares_f32, float)
ADD_UNITS(squares_bf16, bf16)

FINISH
CLIP(clip_f32, float)
CLIP(clip_bf16, bf16)
