/*
 * softmax_rows.h: softmax in the registers of the tensor cores' sums, for mma_sync.cu and the
 * Hopper steps. A warp has 16 rows; a thread has parts of two of them, `row` and row + 8: scores[4
 * c + 2 h + e] is row + 8 h, column 8 c + threadIdx.x % 4 * 2 + e. So four threads share a row.
 */
#ifndef LOCKSTEP_ATTENTION_SOFTMAX_ROWS_H
#define LOCKSTEP_ATTENTION_SOFTMAX_ROWS_H

#include "attention.h"

/* What a thread knows of its two rows. */
struct rows {
    float largest[2]; /* score so far, not yet scaled */
    float sum[2];     /* of this thread's exponentials */
    float shrink[2];  /* what the output so far must be multiplied by */
};

/* Scores that the mask hides become minus infinity. `key` is the tile's first. */
template <int count>
static __device__ __forceinline__ void hide(float (&scores)[count], const attention_arguments &g,
                                            const sequence &s, int row, int key)
{
    key += (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        seen keys = seen_by(g, s, row + 8 * h);
        int low = keys.first - key, high = keys.last - key;
#pragma unroll
        for (int c = 0; c < count / 4; c++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (8 * c + e < low || 8 * c + e > high)
                    scores[4 * c + 2 * h + e] = lowest();
    }
}

/* Scores become exponentials, 2^LIFT at most. */
template <int LIFT, int count>
static __device__ __forceinline__ void soften(float (&scores)[count], rows &r, float scale)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float most = r.largest[h];
#pragma unroll
        for (int i = 2 * h; i < count; i += 4)
            most = fmaxf(most, fmaxf(scores[i], scores[i + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        float base = most == lowest() ? 0.0f : most * scale;
        r.shrink[h] = exp2_fast(fmaf(r.largest[h], scale, -base));
        r.largest[h] = most;
        base -= LIFT;
        float even = 0, odd = 0;
#pragma unroll
        for (int i = 2 * h; i < count; i += 4) {
            scores[i] = exp2_fast(fmaf(scores[i], scale, -base));
            scores[i + 1] = exp2_fast(fmaf(scores[i + 1], scale, -base));
            even += scores[i];
            odd += scores[i + 1];
        }
        r.sum[h] = fmaf(r.sum[h], r.shrink[h], even + odd);
    }
}

/* Does every query from `row` to the warp's last see every key of the tile? */
static __device__ __forceinline__ bool is_whole(const attention_arguments &g, const sequence &s,
                                                int row, int key, int count)
{
    return key + count - 1 <= seen_by(g, s, row).last && key >= seen_by(g, s, row + 15).first;
}

/* ALiBi: scores lose for their distance from the diagonal. */
template <int count>
static __device__ __forceinline__ void lean(float (&scores)[count], const attention_arguments &g,
                                            const sequence &s, int row, int key, float scale)
{
    float slope = ((const float *)g.slopes)[s.head] * __fdividef(LOG2_E, scale);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float ahead = (float)(row + 8 * h + s.keys - s.queries - key - (int)threadIdx.x % 4 * 2);
#pragma unroll
        for (int c = 0; c < count / 4; c++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                scores[4 * c + 2 * h + e] =
                    fmaf(-slope, fabsf(ahead - (float)(8 * c + e)), scores[4 * c + 2 * h + e]);
    }
}

/* Dropout: exponentials whose place says so become 0; store multiplies the others. */
template <int count>
static __device__ __forceinline__ void drop_weights(float (&weights)[count],
                                                    const attention_arguments &g, const sequence &s,
                                                    int row, int key)
{
    unsigned below = (unsigned)g.dropped << 16;
    unsigned long long first = words_at(g, s, row, key + (int)threadIdx.x % 4 * 2);
#pragma unroll
    for (int i = 0; i < count / 8; i++) { /* 16 keys, of which the thread has two and two */
        uint4 words = weight_words(g.low, g.high, first + 4 * i);
        unsigned of[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float *two = &weights[8 * i + n % 2 * 4 + n / 2]; /* this row, and 8 further on */
            two[0] = of[n] << 16 < below ? 0 : two[0];
            two[2] = of[n] < below ? 0 : two[2];
        }
    }
}

/* From scores as the product left them to exponentials; CAPPED: there may be a softcap, ALiBi or
 * dropout. `warp_row` is the warp's first. */
template <bool CAPPED, int LIFT = 0, int count>
static __device__ __forceinline__ void
finish_scores(float (&scores)[count], const attention_arguments &g, const sequence &s, int warp_row,
              int row, int key, rows &r, float scale)
{
    if (CAPPED && g.softcap != 0)
#pragma unroll
        for (int i = 0; i < count; i++)
            scores[i] = cap_score(g, scores[i]);
    if (CAPPED && g.slopes)
        lean(scores, g, s, row, key, scale);
    if (__builtin_expect(!is_whole(g, s, warp_row, key, count * 2), 0))
        hide(scores, g, s, row, key);
    soften<LIFT>(scores, r, scale);
    if (CAPPED && g.dropped)
        drop_weights(scores, g, s, row, key);
}

/* The output divided by the sums, and the rows' log-sum-exp. */
template <class type, int LIFT = 0, int count>
static __device__ __forceinline__ void store(const float (&out)[count], const rows &r,
                                             const attention_arguments &g, const sequence &s,
                                             int row, factors f)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = r.sum[h] + __shfl_xor_sync(0xffffffff, r.sum[h], 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        float by = sum == 0 ? 0 : __fdividef(f.value, sum);
        bool inside = row + 8 * h < s.queries;
        unsigned short *at = (unsigned short *)g.o + s.batch * g.o_batch + s.head * g.o_head +
                             (s.q_first + row + 8 * h) * g.o_row + threadIdx.x % 4 * 8;
#pragma unroll
        for (int i = 0; i < count / 16; i++) {
            uint4 piece = exchange<type>(out + 16 * i, h, by);
            if (inside)
                *(uint4 *)(at + 32 * i) = piece;
        }
        if (inside && threadIdx.x % 4 == 0)
            store_lse(g, s, row + 8 * h, lse_of(r.largest[h] * f.score - LIFT, sum));
    }
}

#endif
