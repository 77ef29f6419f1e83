/*
 * registers.cu: a thread has eight neighbours in registers: three bits without talking to anyone, five
 * more by shuffles between the lanes of a warp. Of larger blocks the other bits take one or two
 * exchanges through shared memory, after which a thread has eight numbers 256, then 2048 apart. Loads and
 * stores are 16 bytes.
 */
// arch: sm_80
#include "butterflies.h"

#define EACH 8 // numbers of a thread

/* Over bits 3 to 7 of the place, which are the lane's bits. */
static __device__ __forceinline__ void between_lanes(float (&v)[EACH], int log)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int bit = 0; bit < 5; bit++) {
        if (bit + 3 >= log)
            break;
        float sign = lane >> bit & 1 ? -1.0f : 1.0f;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] = fmaf(sign, v[k], __shfl_xor_sync(0xffffffff, v[k], 1 << bit));
    }
}

template <class T>
static __device__ __forceinline__ void load_eight(const T *x, long long left, float (&v)[EACH])
{
    if (left >= EACH && (size_t)x % 16 == 0) {
#pragma unroll
        for (int k = 0; k < EACH; k += PER<T>) {
            float part[PER<T>];
            widen_all<T>(load_once((const uint4 *)(x + k)), part);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                v[k + i] = part[i];
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = k < left ? widen(x[k]) : 0.0f;
}
template <class T>
static __device__ __forceinline__ void store_eight(T *y, long long left, const float (&v)[EACH],
                                                   float scale)
{
    if (left >= EACH && (size_t)y % 16 == 0) {
#pragma unroll
        for (int k = 0; k < EACH; k += PER<T>) {
            float part[PER<T>];
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                part[i] = v[k + i] * scale;
            store_stream((uint4 *)(y + k), narrow_all<T>(part));
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k < left)
            narrow(v[k] * scale, &y[k]);
}

/* Where number `at` of the tile waits: a gap after each 32 keeps a warp's eight-number pieces in
 * different banks. */
static __device__ __forceinline__ int slot(int at)
{
    return at + at / 32;
}
static __device__ __forceinline__ void give(const float (&v)[EACH], float *tile, int from, int step)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        tile[slot(from + k * step)] = v[k];
    __syncthreads();
}
static __device__ __forceinline__ void take(float (&v)[EACH], const float *tile, int from, int step)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = tile[slot(from + k * step)];
}

/* A tile of 8 blockDim.x numbers, with one block of numbers or several. */
template <class T>
static __device__ __forceinline__ void transform(const T *x, T *y, long long n, int log, float scale)
{
    extern __shared__ float tile[];
    int mine = threadIdx.x * EACH;
    long long from = (long long)blockIdx.x * blockDim.x * EACH + mine;
    float v[EACH];
    load_eight(x + from, n - from, v);
    butterflies(v, log);
    between_lanes(v, log);
    if (log > 8) {
        int at = threadIdx.x / 256 * 2048 + threadIdx.x % 256;
        give(v, tile, mine, 1);
        take(v, tile, at, 256);
        butterflies(v, log - 8);
        __syncthreads();
        give(v, tile, at, 256);
        if (log > 11) { /* two or four numbers, 2048 apart, at a time: 8 of them are more than there are */
            int apart = 1 << (log - 11);
            for (int i = threadIdx.x; i < 2048; i += blockDim.x) {
                float w[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    w[k] = k < apart ? tile[slot(i + k * 2048)] : 0.0f;
                butterflies(w, log - 11);
#pragma unroll
                for (int k = 0; k < 4; k++)
                    if (k < apart)
                        tile[slot(i + k * 2048)] = w[k];
            }
            __syncthreads();
        }
        take(v, tile, mine, 1);
    }
    store_eight(y + from, n - from, v, scale);
}

#define REGISTERS(type, T)                                                                         \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        registers_##type(const T *x, T *y, long long n, int log, float scale)                      \
    {                                                                                              \
        transform(x, y, n, log, scale);                                                            \
    }
FOR_TYPES(REGISTERS)
