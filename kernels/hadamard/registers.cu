/*
 * registers.cu: a thread has 32 numbers in registers, in vectors of 16 bytes: bits within a vector and
 * between vectors without talking to anyone, five by shuffles between the lanes of a warp, and up to four
 * by one exchange through shared memory (tiles.h).
 */
// arch: sm_80
#include "tiles.h"

template <class T>
static __device__ __forceinline__ void registers(const T *x, T *y, long long n, int log, float scale)
{
    transform(x, y, n, log, scale, [&](const uint4(&vectors)[VECTORS<T>], float(&v)[EACH]) {
#pragma unroll
        for (int k = 0; k < VECTORS<T>; k++) {
            float part[PER<T>];
            widen_all<T>(vectors[k], part);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                v[k * PER<T> + i] = part[i];
        }
#pragma unroll
        for (int bit = 0; bit < LOW<T>; bit++)
            if (log > bit)
                butterfly(v, bit);
        between_lanes<T>(v, LOW<T>, log);
    });
}

KERNEL(registers, f32, float)
KERNEL(registers, f16, f16)
KERNEL(registers, bf16, bf16)
