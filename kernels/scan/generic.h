/*
 * generic.h: the pieces of a scan for numbers of any 4-byte type T, as templates; generic.cu and
 * generic_sm90.cu put them together. To read how a scan works, read the other variants: they do the
 * same with plain floats.
 */
#ifndef LOCKSTEP_SCAN_GENERIC_H
#define LOCKSTEP_SCAN_GENERIC_H

#include "device.h"

template <typename T> struct __align__(16) four {
    T element[4];
};

// The bits of x as another type of the same size.
template <typename To, typename From> static __device__ __forceinline__ To bits_as(From x)
{
    static_assert(sizeof(To) == 4 && sizeof(From) == 4, "a number takes half of a tile's state");
    union {
        From from;
        To to;
    } bits = {x};
    return bits.to;
}

template <typename T> static __device__ __forceinline__ T scan_lanes(T x)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        T below = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance)
            x += below;
    }
    return x;
}

template <typename T> static __device__ __forceinline__ T sum_lanes(T x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

// From one number of each warp to all of them in every warp: lane w gets warp w's, lanes from WARPS
// on get 0. A barrier; of_warp must not be written again.
template <int WARPS, typename T> static __device__ __forceinline__ T exchange(T *of_warp, T mine)
{
    int lane = threadIdx.x % 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    return lane < WARPS ? of_warp[lane] : 0;
}

template <typename T>
static __device__ __forceinline__ four<T> load_four(const T *in, long long left, bool aligned)
{
    four<T> v;
    if (aligned && left >= 4) {
        uint4 words = load_stream((const uint4 *)in);
        v.element[0] = bits_as<T>(words.x);
        v.element[1] = bits_as<T>(words.y);
        v.element[2] = bits_as<T>(words.z);
        v.element[3] = bits_as<T>(words.w);
    } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
            v.element[k] = k < left ? in[k] : 0;
    }
    return v;
}

template <typename T>
static __device__ __forceinline__ void store_four(T *out, long long left, bool aligned, four<T> v)
{
    if (aligned && left >= 4) {
        uint4 words = {bits_as<unsigned>(v.element[0]), bits_as<unsigned>(v.element[1]),
                       bits_as<unsigned>(v.element[2]), bits_as<unsigned>(v.element[3])};
        __stcs((uint4 *)out, words);
    } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (k < left)
                out[k] = v.element[k];
    }
}

template <typename T> static __device__ __forceinline__ T sum_four(four<T> v)
{
    return (v.element[0] + v.element[1]) + (v.element[2] + v.element[3]);
}

// A warp's part of a tile: ROWS rows of 128 neighbours, four of each in every lane. load, then
// scan, then write with what comes before the part.
template <typename T, int ROWS> struct rows {
    four<T> row[ROWS];
    T up_to[ROWS]; // the sum of the row up to and with this lane's four

    __device__ __forceinline__ void load(const T *in, long long at, long long n, bool aligned)
    {
        // One test for all rows: rows that are tested one by one may wait for each other.
        if (aligned && __all_sync(0xffffffff, at + 128 * (ROWS - 1) + 4 <= n)) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                row[i] = load_four(in + at + i * 128, 4, true);
        } else {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                row[i] = load_four(in + at + i * 128, n - at - i * 128, aligned);
        }
    }

    __device__ __forceinline__ void scan()
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            up_to[i] = scan_lanes(sum_four(row[i]));
    }

    __device__ __forceinline__ T total() const
    {
        T sum = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            sum += __shfl_sync(0xffffffff, up_to[i], 31);
        return sum;
    }

    __device__ __forceinline__ void write(T *out, long long at, long long n, T before, bool aligned,
                                          bool exclusive) const
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++, at += 128) {
            T below = __shfl_up_sync(0xffffffff, up_to[i], 1);
            T sum = threadIdx.x % 32 > 0 ? before + below : before;
            four<T> sums;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                T with = sum + row[i].element[k];
                sums.element[k] = exclusive ? sum : with;
                sum = with;
            }
            store_four(out + at, n - at, aligned, sums);
            before += __shfl_sync(0xffffffff, up_to[i], 31);
        }
    }
};

// Before a scan of tiles: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}

#endif
