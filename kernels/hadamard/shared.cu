/*
 * shared.cu: a block of threads for each block of numbers, which waits in shared memory while all bits
 * are done: one read and one write, and a barrier for each bit.
 */
// arch: sm_80
#include "butterflies.h"

template <class T>
static __device__ __forceinline__ void transform(const T *x, T *y, int log, float scale)
{
    extern __shared__ float numbers[];
    long long from = (long long)blockIdx.x << log;
    for (int i = threadIdx.x; i < 1 << log; i += blockDim.x)
        numbers[i] = widen(x[from + i]);
    __syncthreads();
    for (int bit = 0; bit < log; bit++) {
        for (int i = threadIdx.x; i < 1 << (log - 1); i += blockDim.x) {
            int at = (i >> bit << (bit + 1)) + (i & ((1 << bit) - 1));
            float low = numbers[at], high = numbers[at + (1 << bit)];
            numbers[at] = low + high;
            numbers[at + (1 << bit)] = low - high;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 1 << log; i += blockDim.x)
        narrow(numbers[i] * scale, &y[from + i]);
}

#define SHARED(type, T)                                                                            \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        shared_##type(const T *x, T *y, int log, float scale)                                      \
    {                                                                                              \
        transform(x, y, log, scale);                                                               \
    }
FOR_TYPES(SHARED)
