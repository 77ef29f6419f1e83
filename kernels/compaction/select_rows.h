/*
 * select_rows.h: what one warp keeps of its rows of 128 elements, four neighbours in each lane:
 * which ones, packed in shared memory, and from there to the output.
 */
#ifndef LOCKSTEP_COMPACTION_SELECT_ROWS_H
#define LOCKSTEP_COMPACTION_SELECT_ROWS_H

#include "device.h"

// The sum of x over the warp, in every lane.
static __device__ __forceinline__ unsigned warp_sum(unsigned x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

// Four neighbours, of which the first `left` exist; the others are zero.
static __device__ __forceinline__ float4 load4(const float *in, long long left, bool aligned)
{
    if (aligned && left >= 4)
        return load_stream((const float4 *)in);
    return make_float4(left > 0 ? in[0] : 0, left > 1 ? in[1] : 0, left > 2 ? in[2] : 0,
                       left > 3 ? in[3] : 0);
}

// Bit k: element k of the four exists and is kept.
static __device__ __forceinline__ unsigned kept_of_four(float4 v, long long left, float threshold)
{
    unsigned exist = left >= 4 ? 15u : left > 0 ? (1u << left) - 1 : 0;
    unsigned large = (unsigned)(v.x > threshold) | (unsigned)(v.y > threshold) << 1 |
                     (unsigned)(v.z > threshold) << 2 | (unsigned)(v.w > threshold) << 3;
    return exist & large;
}

// Writes what a row keeps (mine: the bits of this lane's four) to kept[count] and on; returns the
// new count. kept may be where the rows are: all lanes have read theirs before any writes.
static __device__ __forceinline__ unsigned keep_row(float4 v, unsigned mine, float *kept,
                                                    unsigned count)
{
    unsigned below = lanes_below(), in_row = 0, rank = count;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned lanes = __ballot_sync(0xffffffff, mine >> k & 1);
        in_row += __popc(lanes);
        rank += __popc(lanes & below);
    }
    __syncwarp();
    if (mine & 1)
        kept[rank++] = v.x;
    if (mine & 2)
        kept[rank++] = v.y;
    if (mine & 4)
        kept[rank++] = v.z;
    if (mine & 8)
        kept[rank] = v.w;
    return count + in_row;
}

// From shared memory to the output; neighbouring lanes write neighbouring elements.
static __device__ __forceinline__ void write_kept(const float *kept, unsigned count, float *out)
{
    __syncwarp();
    for (unsigned i = threadIdx.x % 32; i < count; i += 32)
        __stcs(out + i, kept[i]);
    __syncwarp();
}

#endif
