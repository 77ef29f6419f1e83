/*
 * stream.h: a block that goes through a range of keys for one query, for split.cu and cluster.cu.
 * Rows are read 16 bytes a lane, so that a warp reads several keys at once, and each lane has four
 * loads of K and four of V under way before it needs the first.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_DECODE_STREAM_H
#define LOCKSTEP_KERNELS_ATTENTION_DECODE_STREAM_H

#include "decode.h"
#define THREADS 128
#define WARPS (THREADS / 32)
#define AHEAD 4 /* keys of a lane at a time */

/* What a block has found: in shared memory, for all its threads. */
template <int DIM> struct found {
    float out[WARPS][DIM];
    float largest[WARPS], sum[WARPS];
};

template <class type, int DIM> struct stream {
    static const int LANES = DIM <= 64 ? 8 : DIM <= 128 ? 16 : 32; /* that share a row */
    static const int ROWS = 32 / LANES;                            /* of a warp at a time */

    static __device__ __forceinline__ void widen(const uint4 &v, float (&x)[8])
    {
        const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++)
            type::unpack(word[i], x[2 * i], x[2 * i + 1]);
    }
    static __device__ __forceinline__ float sum_row(float x)
    {
#pragma unroll
        for (int step = LANES / 2; step > 0; step /= 2)
            x += __shfl_xor_sync(0xffffffff, x, step);
        return x;
    }

    /* A lane's part: eight columns, of the keys that its group of lanes has seen. */
    struct part {
        float largest, sum, out[8];
    };

    static __device__ __forceinline__ void take(const decode_arguments &g, const decode_row &r,
                                                const float (&q)[8], int key, int last, int column,
                                                part &p)
    {
        uint4 k[AHEAD], v[AHEAD];
        float score[AHEAD], x[8], most = p.largest;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            k[i] = v[i] = make_uint4(0, 0, 0, 0);
            if (key + i * ROWS < last && column < DIM) {
                long long at =
                    cache_at(g, r.sequence, r.head / g.group, key + i * ROWS) + column;
                k[i] = load_stream((const uint4 *)((const unsigned short *)g.k + at));
                v[i] = load_stream((const uint4 *)((const unsigned short *)g.v + at));
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            score[i] = 0;
            widen(k[i], x);
#pragma unroll
            for (int j = 0; j < 8; j++)
                score[i] = fmaf(q[j], x[j], score[i]);
            score[i] = sum_row(score[i]) * g.scale; /* all lanes take part in the sum */
            if (key + i * ROWS >= last)
                score[i] = lowest();
            most = fmaxf(most, score[i]);
        }
        float shrink = shrink_to(p.largest, most);
        p.largest = most;
        p.sum *= shrink;
#pragma unroll
        for (int j = 0; j < 8; j++)
            p.out[j] *= shrink;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            float weight = shrink_to(score[i], most);
            p.sum += weight;
            widen(v[i], x);
#pragma unroll
            for (int j = 0; j < 8; j++)
                p.out[j] = fmaf(weight, x[j], p.out[j]);
        }
    }

    /* Over the groups of lanes of a warp: afterwards all have the same. */
    static __device__ __forceinline__ void merge_lanes(part &p)
    {
#pragma unroll
        for (int step = LANES; step < 32; step *= 2) {
            float other = __shfl_xor_sync(0xffffffff, p.largest, step);
            float most = fmaxf(p.largest, other);
            float mine = shrink_to(p.largest, most), its = shrink_to(other, most);
            p.largest = most;
            p.sum = p.sum * mine + __shfl_xor_sync(0xffffffff, p.sum, step) * its;
#pragma unroll
            for (int j = 0; j < 8; j++)
                p.out[j] = p.out[j] * mine + __shfl_xor_sync(0xffffffff, p.out[j], step) * its;
        }
    }

    /* Keys from `first` on, before `last`; the block has synchronised afterwards. */
    static __device__ __forceinline__ void walk(const decode_arguments &g, const decode_row &r,
                                                int first, int last, found<DIM> &to)
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = lane % LANES * 8;
        float q[8] = {0};
        part p = {lowest(), 0, {0}};
        if (column < DIM)
            widen(*(const uint4 *)((const unsigned short *)g.q + r.q + column), q);
        for (int key = first + warp * ROWS * AHEAD; key < last; key += WARPS * ROWS * AHEAD)
            take(g, r, q, key + lane / LANES, last, column, p);
        merge_lanes(p);
        if (lane < LANES && column < DIM)
#pragma unroll
            for (int j = 0; j < 8; j++)
                to.out[warp][column + j] = p.out[j];
        if (lane == 0) {
            to.largest[warp] = p.largest;
            to.sum[warp] = p.sum;
        }
        __syncthreads();
    }

    /* Of the block's warps. */
    static __device__ __forceinline__ float largest_of(const found<DIM> &f)
    {
        float most = f.largest[0];
        for (int w = 1; w < WARPS; w++)
            most = fmaxf(most, f.largest[w]);
        return most;
    }
    static __device__ __forceinline__ float sum_of(const found<DIM> &f, float most)
    {
        float sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum = fmaf(f.sum[w], shrink_to(f.largest[w], most), sum);
        return sum;
    }
    static __device__ __forceinline__ float out_of(const found<DIM> &f, float most, int column)
    {
        float sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum = fmaf(f.out[w][column], shrink_to(f.largest[w], most), sum);
        return sum;
    }
};

#endif
