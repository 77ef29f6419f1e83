/*
 * tiles.h: blocks of up to 16384 numbers in one read and one write. A thread has 32 numbers in vectors of
 * 16 bytes: the lowest bits of a number's place are within a vector, five are the lane's, the next ones
 * lie between the thread's vectors, and those from 10 on take one exchange through shared memory.
 */
#ifndef LOCKSTEP_HADAMARD_TILES_H
#define LOCKSTEP_HADAMARD_TILES_H

#include "butterflies.h"

#define EACH 32 // numbers of a thread
#define FAR 16 // numbers that the exchange brings to a thread, twice
#define MOST 512 // threads of a block

template <class T> static constexpr int VECTORS = EACH / PER<T>;
template <class T> static constexpr int LOW = PER<T> == 8 ? 3 : 2; // bits within a vector

/* Over the lane's bits of the place from `from` on that are below `log`. */
template <class T>
static __device__ __forceinline__ void between_lanes(float (&v)[EACH], int from, int log)
{
#pragma unroll
    for (int bit = from; bit < LOW<T> + 5; bit++) {
        int distance = 1 << (bit - LOW<T>);
        float sign = threadIdx.x & distance ? -1.0f : 1.0f;
        if (bit >= log)
            break;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] = fmaf(sign, v[k], __shfl_xor_sync(0xffffffff, v[k], distance));
    }
}

/* What lies behind the array's end is 0. */
template <class T> static __device__ __forceinline__ uint4 load_vector(const T *x, long long left)
{
    if ((size_t)x % 16 == 0 && PER<T> <= left)
        return load_once((const uint4 *)x);
    vector<T> part;
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (k < left)
            part.element[k] = x[k];
        else
            narrow(0, &part.element[k]);
    return part.words;
}
template <class T>
static __device__ __forceinline__ void store_vector(T *y, long long left, const float *v, float scale)
{
    float part[PER<T>];
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        part[k] = v[k] * scale;
    if ((size_t)y % 16 == 0 && PER<T> <= left) {
        store_stream((uint4 *)y, narrow_all<T>(part));
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (k < left)
            narrow(part[k], &y[k]);
}
/* Two neighbours, at an even number of elements from an address that a vector may have. */
template <class T> static __device__ __forceinline__ void store_pair(T *y, float low, float high)
{
    if constexpr (sizeof(T) == 2)
        *(unsigned *)y = narrow_pair(low, high, T());
    else
        *(float2 *)y = make_float2(low, high);
}

/* Where number `at` waits: a gap after each 32 keeps a warp's vectors in different banks. */
static __device__ __forceinline__ int slot(int at)
{
    return at + at / 32 * 4;
}

/* The last bit of what a thread has, and the scale: in one addition less for both numbers. */
static __device__ __forceinline__ void last_butterfly(float (&v)[FAR], float scale)
{
#pragma unroll
    for (int k = 0; k < FAR / 2; k++) {
        float low = v[k], high = v[k + FAR / 2] * scale;
        v[k] = fmaf(low, scale, high);
        v[k + FAR / 2] = fmaf(low, scale, -high);
    }
}

/* Bits from 10 to LOG, when the tile waits in shared memory: a thread gets two neighbours of FAR places, so
 * far apart that the last four bits are among them, and stores them: those of a warp lie side by side.
 * LOG is known to the compiler, so that places are too. TURNED: bits 1 and 2 of the place have changed
 * places in shared memory. */
template <int LOG, bool TURNED, class T>
static __device__ __forceinline__ void store_exchanged(const float *tile, T *y, long long left,
                                                       float scale)
{
    const int apart = 1 << (LOG - 4), threads = apart / 2;
    int from = threadIdx.x / threads * threads * EACH + threadIdx.x % threads * 2;
    int waits = TURNED ? from & ~6 | (from & 2) << 1 | (from & 4) >> 1 : from;
    if (from >= left)
        return;
    float low[FAR], high[FAR];
#pragma unroll
    for (int k = 0; k < FAR; k++) {
        float2 both = *(const float2 *)&tile[slot(waits) + slot(k * apart)];
        low[k] = both.x, high[k] = both.y;
    }
#pragma unroll
    for (int bit = 14 - LOG; bit < 3; bit++) {
        butterfly(low, bit);
        butterfly(high, bit);
    }
    last_butterfly(low, scale);
    last_butterfly(high, scale);
    if ((size_t)y % (2 * sizeof(T)) == 0) {
#pragma unroll
        for (int k = 0; k < FAR; k++)
            store_pair(y + from + k * apart, low[k], high[k]);
        return;
    }
#pragma unroll
    for (int k = 0; k < FAR; k++) {
        narrow(low[k], y + from + k * apart);
        narrow(high[k], y + from + k * apart + 1);
    }
}

template <bool TURNED, class T>
static __device__ __forceinline__ void store_by_size(int log, const float *tile, T *y, long long left,
                                                     float scale)
{
    switch (log) {
    case 11:
        return store_exchanged<11, TURNED>(tile, y, left, scale);
    case 12:
        return store_exchanged<12, TURNED>(tile, y, left, scale);
    case 13:
        return store_exchanged<13, TURNED>(tile, y, left, scale);
    case 14:
        return store_exchanged<14, TURNED>(tile, y, left, scale);
    }
}

/* A tile of EACH blockDim.x numbers, with one block of numbers or several. first_bits(vectors, v) makes
 * numbers of the thread's vectors, and does those bits that are within a vector or the lane's. */
template <class T, class First>
static __device__ __forceinline__ void transform(const T *x, T *y, long long n, int log, float scale,
                                                 First first_bits)
{
    const int line = 32 * PER<T>; // numbers of a warp's vectors side by side
    int first = threadIdx.x / 32 * 32 * EACH + threadIdx.x % 32 * PER<T>;
    long long tile = (long long)blockIdx.x * blockDim.x * EACH, from = tile + first;
    uint4 vectors[VECTORS<T>];
    float v[EACH];
#pragma unroll
    for (int k = 0; k < VECTORS<T>; k++)
        vectors[k] = load_vector(x + from + k * line, n - from - k * line);
    first_bits(vectors, v);
#pragma unroll
    for (int bit = LOW<T>; bit < 5; bit++)
        if (log > bit + 5)
            butterfly(v, bit);
    if (log > 10) {
        extern __shared__ float waiting[];
#pragma unroll
        for (int k = 0; k < EACH; k += 4)
            *(float4 *)&waiting[slot(first) + slot(k / PER<T> * line) + k % PER<T>] =
                make_float4(v[k], v[k + 1], v[k + 2], v[k + 3]);
        __syncthreads();
        store_by_size<false>(log, waiting, y + tile, n - tile, scale);
        return;
    }
#pragma unroll
    for (int k = 0; k < VECTORS<T>; k++)
        store_vector(y + from + k * line, n - from - k * line, v + k * PER<T>, scale);
}

#define KERNEL(variant, type, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(MOST, 2)                                          \
        variant##_##type(const T *x, T *y, long long n, int log, float scale)                      \
    {                                                                                              \
        variant(x, y, n, log, scale);                                                              \
    }

#endif
