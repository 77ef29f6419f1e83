/*
 * tile.h: the pieces that the scans by float4 are put together from: four neighbours at a time from
 * and to memory, sums across a warp, and a whole tile scanned in registers before anybody knows
 * what comes before it. look_back.cu has its own copies of the small ones, to be read by itself.
 */
#ifndef LOCKSTEP_SCAN_TILE_H
#define LOCKSTEP_SCAN_TILE_H

#include "device.h"

static __device__ __forceinline__ bool is_aligned(const float *in, const float *out)
{
    return ((size_t)in | (size_t)out) % 16 == 0;
}

// Four neighbours, of which the first `left` exist: the others are zero, or are not written.
static __device__ __forceinline__ float4 load4(const float *in, long long left, bool aligned)
{
    if (aligned && left >= 4)
        return load_stream((const float4 *)in);
    return make_float4(left > 0 ? in[0] : 0, left > 1 ? in[1] : 0, left > 2 ? in[2] : 0,
                       left > 3 ? in[3] : 0);
}

static __device__ __forceinline__ void store4(float *out, long long left, bool aligned, float4 v)
{
    if (aligned && left >= 4) {
        __stcs((float4 *)out, v);
    } else {
        if (left > 0)
            out[0] = v.x;
        if (left > 1)
            out[1] = v.y;
        if (left > 2)
            out[2] = v.z;
        if (left > 3)
            out[3] = v.w;
    }
}

static __device__ __forceinline__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

// Running sums of four elements that follow `before`.
static __device__ __forceinline__ float4 scan4(float4 v, float before, bool exclusive)
{
    float x = before + v.x, y = x + v.y, z = y + v.z, w = z + v.w;
    return exclusive ? make_float4(before, x, y, z) : make_float4(x, y, z, w);
}

// The sum of x over this lane and all lanes below it.
static __device__ __forceinline__ float warp_scan(float x)
{
    unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        float below = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance)
            x += below;
    }
    return x;
}

// The sum of x over the warp: every lane gets it, with the same bits.
static __device__ __forceinline__ float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

// A tile by rows ---------------------------------------------------------------------------------
// A warp has ROWS rows of 128 neighbouring elements, four of each in every lane.

template <int ROWS> struct tile_rows {
    float4 row[ROWS];   // as loaded; after scan_rows, summed up from its own first element
    float before[ROWS]; // what comes before it in the warp's part of the tile
};

// Returns the sum of the warp's part.
template <int ROWS> static __device__ __forceinline__ float scan_rows(tile_rows<ROWS> *tile)
{
    float total = 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        float4 v = tile->row[i];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        tile->row[i] = v;
        tile->before[i] = warp_scan(v.w);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        float all = __shfl_sync(0xffffffff, tile->before[i], 31);
        float below = __shfl_up_sync(0xffffffff, tile->before[i], 1);
        tile->before[i] = total + (threadIdx.x % 32 > 0 ? below : 0);
        total += all;
    }
    return total;
}

// To out[at], out[at + 128] ..; before: what comes before the warp's part.
template <int ROWS>
static __device__ __forceinline__ void write_rows(const tile_rows<ROWS> *tile, float *out,
                                                  long long at, long long n, float before,
                                                  bool aligned, bool exclusive)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++, at += 128) {
        float base = before + tile->before[i];
        float x = base + tile->row[i].x, y = base + tile->row[i].y, z = base + tile->row[i].z;
        float w = base + tile->row[i].w;
        store4(out + at, n - at, aligned,
               exclusive ? make_float4(base, x, y, z) : make_float4(x, y, z, w));
    }
}

#endif
