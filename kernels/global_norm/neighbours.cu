/*
 * neighbours.cu: as two_stage, but each block takes neighbouring units: it searches for the tensor of its
 * first one, and after that only steps on when a tensor ends. A search is two loads that wait for each
 * other, and the gradients wait for them; here several units of a tensor are loaded at a time.
 */
// arch: sm_80
#include "squares.h"

#define BLOCKS_PER_SM 8 // tune: 4 8
#define UNITS 4 // tune: 1 2 4

/* All that this block's units hold of one tensor: from unit `unit` up to `end`. */
template <class T>
static __device__ __forceinline__ double add_tensor(const char *grad, const tensor *t, long long unit,
                                                    long long end)
{
    const T *x = (const T *)(grad + t->grad);
    long long first = t->first, count = t->count, whole = first + count / UNIT;
    double mine = 0;
    if ((size_t)x % 16 == 0) {
        const int vectors = UNIT / THREADS / PER<T>;
#pragma unroll 1
        for (; unit + UNITS <= min(end, whole); unit += UNITS) {
            uint4 v[UNITS * vectors];
#pragma unroll
            for (int k = 0; k < UNITS * vectors; k++)
                v[k] = load_stream((const uint4 *)(x + (unit - first) * UNIT) + k * THREADS +
                                   threadIdx.x);
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                float sum = 0;
#pragma unroll
                for (int i = 0; i < vectors; i++) {
                    float number[PER<T>];
                    widen_all<T>(v[k * vectors + i], number);
#pragma unroll
                    for (int e = 0; e < PER<T>; e++)
                        sum = fmaf(number[e], number[e], sum);
                }
                mine += sum;
            }
        }
    }
#pragma unroll 1
    for (; unit < end; unit++) {
        long long begin = (unit - first) * UNIT;
        mine += squares_of_thread(x, begin, min(begin + UNIT, count));
    }
    return mine;
}

template <class T>
static __device__ __forceinline__ void add_units(const char *grad, const tensor *table, int tensors,
                                                 long long units, double *parts)
{
    long long each = (units + gridDim.x - 1) / gridDim.x, unit = blockIdx.x * each;
    long long end = min(unit + each, units);
    double mine = 0;
    if (unit < end) {
#pragma unroll 1
        for (int i = find_tensor(table, tensors, unit); unit < end; i++) {
            long long next = i + 1 < tensors ? min(table[i + 1].first, end) : end;
            if (unit < next)
                mine += add_tensor<T>(grad, &table[i], unit, next);
            unit = max(unit, next);
        }
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
