/*
 * norm.h: what rmsnorm and layernorm share: the arguments of their forward kernels, the moments of
 * a part of a row and how two become one, and what becomes of a number. LAYER kernels subtract the
 * mean first. Arithmetic is in f32 whatever the type.
 *
 * A row whose squares leave the range of f32 is measured again, scaled by a power of two: the
 * result of a norm is never large, so it must not overflow on the way.
 */
#ifndef LOCKSTEP_KERNELS_NORM_H
#define LOCKSTEP_KERNELS_NORM_H

#include "rows.h"

/* The arguments of every forward kernel, and what its body gets. */
#define NORM_ARGUMENTS(T)                                                                          \
    const T *x, const T *residual, const T *gamma, const T *beta, void *y, T *sum, float *stats,   \
        long long rows, long long cols, float eps, float scale, int has, int whole
#define NORM(T)                                                                                    \
    norm_job<T>                                                                                    \
    {                                                                                              \
        x, residual, gamma, beta, y, sum, stats, rows, cols, eps, scale, has, whole != 0           \
    }

enum { HAS_RESIDUAL = 1, HAS_GAMMA = 2, HAS_BETA = 4, HAS_STATS = 8, HAS_FP8 = 16 };

template <class T> struct norm_job {
    const T *x, *residual; // [rows][cols]
    const T *gamma, *beta; // [cols]
    void *y;               // [rows][cols] of T, or of e4m3
    T *sum;                // [rows][cols]: x + residual, which is what gets normalised
    float *stats;          // [rows]: 1 / deviation; LAYER: [2][rows], the means first
    long long rows, cols;
    float eps, scale; // scale: of e4m3 results
    int has;
    bool whole; // rows of all buffers begin at multiples of 16 bytes
};

/* Moments ---------------------------------------------------------------------------------------*/

/* Of some numbers: how many, their mean, and the sum of squares of their distances from it. Without
 * LAYER the distances are from 0, and only the sum counts. */
struct moments {
    float count, mean, squares;
};

/* The squares around a common mean: each part's own, and its mean's distance (Chan). */
template <bool LAYER> static __device__ __forceinline__ moments merge(moments a, moments b)
{
    if (!LAYER)
        return moments{0, 0, a.squares + b.squares};
    float count = a.count + b.count, apart = b.mean - a.mean;
    if (b.count == 0 || a.count == 0)
        return b.count == 0 ? a : b;
    float share = __fdividef(b.count, count);
    return moments{count, fmaf(apart, share, a.mean),
                   fmaf(apart * apart * share, a.count, a.squares + b.squares)};
}

/* Over groups of `lanes` neighbours. Means are counted from that of the group's first lane, so that
 * one round of sums does: with the mean itself, squares would have to wait for it. Nothing much is lost:
 * the squares around the common mean are at least a 1 / lanes of those around the first lane's, which has
 * numbers wherever another one has. Sums over lanes have the same bits in every lane. */
template <bool LAYER>
static __device__ __forceinline__ moments merge_lanes(moments m, unsigned lanes, float count)
{
    if (!LAYER)
        return moments{0, 0, sum_lanes(m.squares, lanes)};
    float zero = __shfl_sync(0xffffffff, m.mean, threadIdx.x % 32 & ~(lanes - 1));
    float apart = m.mean - zero, shift = m.count * apart;
    float sum = sum_lanes(shift, lanes);
    float squares = sum_lanes(fmaf(shift, apart, m.squares), lanes);
    float further = count > 0 ? __fdividef(sum, count) : 0;
    squares = fmaf(-further, sum, squares);
    return moments{count, zero + further, squares < 0 ? 0 : squares};
}
template <bool LAYER>
static __device__ __forceinline__ moments merge_lanes(moments m, unsigned lanes)
{
    return merge_lanes<LAYER>(m, lanes, LAYER ? sum_lanes(m.count, lanes) : 0);
}

/* Every thread of a block of whole warps gets the block's. Two calls in a row must not have the
 * same of_warp: there is one barrier. */
template <bool LAYER>
static __device__ __forceinline__ moments merge_warps(moments m, moments *of_warp)
{
    unsigned lane = threadIdx.x % 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = m;
    __syncthreads();
    if (blockDim.x <= 256) // everybody waits for this: fewer steps where they do
        return merge_lanes<LAYER>(
            lane % 8 < blockDim.x / 32 ? of_warp[lane % 8] : moments{0, 0, 0}, 8);
    return merge_lanes<LAYER>(lane < blockDim.x / 32 ? of_warp[lane] : moments{0, 0, 0}, 32);
}
template <bool LAYER>
static __device__ __forceinline__ moments merge_block(moments m, moments *of_warp)
{
    return merge_warps<LAYER>(merge_lanes<LAYER>(m, 32), of_warp);
}

/* The moments of a thread's vectors; the first `filled` of each vector's elements are numbers of
 * the row (WHOLE: all or none). Two passes over registers: the mean, then the distances, each by two sums
 * that do not wait for one another. */
template <class T, bool LAYER, bool WHOLE, int V>
static __device__ __forceinline__ moments measure(const uint4 (&v)[V], const int (&filled)[V],
                                                  float factor)
{
    float count = 0, sum[2] = {0, 0}, squares[2] = {0, 0}, mean = 0, x[PER<T>];
    if (LAYER) {
#pragma unroll
        for (int k = 0; k < V; k++) { // what is not filled is 0
            widen_all<T>(v[k], x);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                sum[i % 2] = fmaf(x[i], factor, sum[i % 2]);
            count += filled[k];
        }
        mean = count > 0 ? __fdividef(sum[0] + sum[1], count) : 0;
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        if (LAYER && WHOLE && !filled[k])
            continue;
        widen_all<T>(v[k], x);
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float distance = LAYER ? fmaf(x[i], factor, -mean) : x[i] * factor;
            if (!LAYER || WHOLE || i < filled[k])
                squares[i % 2] = fmaf(distance, distance, squares[i % 2]);
        }
    }
    return moments{count, mean, squares[0] + squares[1]};
}

/* Statistics of a row ---------------------------------------------------------------------------*/

/* A number becomes (x factor - mean) rstd. factor is 1 but for rows of huge or tiny numbers. */
struct statistics {
    float factor, mean, rstd;
};

static __device__ __forceinline__ float inverse_root(float x)
{
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

template <bool LAYER>
static __device__ __forceinline__ statistics statistics_of(moments m, float factor, long long cols,
                                                           float eps)
{
    float mean_square = m.squares / cols;
    return statistics{factor, LAYER ? m.mean : 0,
                      inverse_root(fmaf(eps * factor, factor, mean_square))};
}

/* 1, or the power of two with which a row must be measured again. */
static __device__ __forceinline__ float factor_for(moments m, long long cols, float eps)
{
    float mean_square = m.squares / cols + eps;
    if (!(mean_square < 0x1p120f))
        return 0x1p-80f;
    return mean_square < 0x1p-100f && fabsf(m.mean) < 0x1p40f ? 0x1p80f : 1;
}

template <class T, bool LAYER>
static __device__ __forceinline__ void store_statistics(norm_job<T> a, long long row, statistics s)
{
    if (!(a.has & HAS_STATS))
        return;
    if (LAYER)
        a.stats[row] = isnan(s.rstd) ? s.rstd : s.mean / s.factor;
    a.stats[row + (LAYER ? a.rows : 0)] = s.rstd * s.factor;
}

/* One vector ------------------------------------------------------------------------------------*/

/* To nearest; what is too large becomes 448, since e4m3 has no infinity. sm_89 has an instruction.
 */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
static __device__ __forceinline__ unsigned pack_e4m3(float low, float high)
{
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
    return both;
}
#else
static __device__ __forceinline__ unsigned to_e4m3(float x)
{
    unsigned bits = __float_as_uint(x), size = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
    if (size > 0x7f800000)
        return 0x7f;
    float clamped = fminf(__uint_as_float(size), 448.0f);
    if (clamped < 0x1p-6f) // steps of 2^-9
        return sign | (unsigned)__float2int_rn(clamped * 0x1p9f);
    size = __float_as_uint(clamped);
    size += 0x7ffff + (size >> 20 & 1);
    return sign | ((size >> 20) - (120 << 3));
}
static __device__ __forceinline__ unsigned pack_e4m3(float low, float high)
{
    return to_e4m3(low) | to_e4m3(high) << 8;
}
#endif

/* Rounded to T: that is what `sum` keeps, and what is normalised. */
template <class T> static __device__ __forceinline__ uint4 add_vectors(uint4 a, uint4 b)
{
    float x[PER<T>], y[PER<T>];
    widen_all<T>(a, x);
    widen_all<T>(b, y);
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] += y[i];
    return narrow_all<T>(x);
}

template <class T, bool LAYER>
static __device__ __forceinline__ void normalise(statistics s, float (&x)[PER<T>])
{
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] = (LAYER ? fmaf(x[i], s.factor, -s.mean) : x[i] * s.factor) * s.rstd;
}

/* Where a vector's gamma and beta are: in memory, or at hand. They are loaded where they are used:
 * both at once would take registers that the rows need. */
template <class T> struct affine_in_memory {
    enum { at_hand = false };
    const T *gamma, *beta;
    __device__ __forceinline__ uint4 get_gamma(void) const
    {
        return *(const uint4 *)gamma;
    }
    __device__ __forceinline__ uint4 get_beta(void) const
    {
        return *(const uint4 *)beta;
    }
};

struct affine_at_hand {
    enum { at_hand = true };
    uint4 gamma, beta;
    __device__ __forceinline__ uint4 get_gamma(void) const
    {
        return gamma;
    }
    __device__ __forceinline__ uint4 get_beta(void) const
    {
        return beta;
    }
};

/* A vector's results: at column `col` of the row, a multiple of PER, all in the row. */
template <class T, bool LAYER, class Affine>
static __device__ __forceinline__ void write_affine(norm_job<T> a, long long row, long long col,
                                                    uint4 v, Affine at, statistics s)
{
    float x[PER<T>], w[PER<T>];
    widen_all<T>(v, x);
    normalise<T, LAYER>(s, x);
    const int both = HAS_GAMMA | HAS_BETA;
    bool fused = LAYER && Affine::at_hand && (a.has & both) == both;
    if (fused) {
        float b[PER<T>];
        widen_all<T>(at.get_gamma(), w);
        widen_all<T>(at.get_beta(), b);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            x[i] = fmaf(x[i], w[i], b[i]);
    }
    if (!fused && a.has & HAS_GAMMA) {
        widen_all<T>(at.get_gamma(), w);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            x[i] *= w[i];
    }
    if (LAYER && !fused && a.has & HAS_BETA) {
        widen_all<T>(at.get_beta(), w);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            x[i] += w[i];
    }
    if (!(a.has & HAS_FP8)) {
        store_stream((uint4 *)((T *)a.y + row * a.cols + col), narrow_all<T>(x));
        return;
    }
    unsigned word[PER<T> / 4];
#pragma unroll
    for (int i = 0; i < PER<T> / 4; i++)
        word[i] = pack_e4m3(x[4 * i] * a.scale, x[4 * i + 1] * a.scale) |
                  pack_e4m3(x[4 * i + 2] * a.scale, x[4 * i + 3] * a.scale) << 16;
    unsigned *to = (unsigned *)((unsigned char *)a.y + row * a.cols + col);
    if constexpr (PER<T> == 8)
        *(uint2 *)to = make_uint2(word[0], word[1]);
    else
        *to = word[0];
}
template <class T, bool LAYER>
static __device__ __forceinline__ void write_vector(norm_job<T> a, long long row, long long col,
                                                    uint4 v, statistics s)
{
    write_affine<T, LAYER>(a, row, col, v, affine_in_memory<T>{a.gamma + col, a.beta + col}, s);
}

/* One number, where rows are ragged. */
template <class T, bool LAYER>
static __device__ __forceinline__ void write_one(norm_job<T> a, long long row, long long col,
                                                 float x, statistics s)
{
    float y = (LAYER ? fmaf(x, s.factor, -s.mean) : x * s.factor) * s.rstd;
    if (a.has & HAS_GAMMA)
        y *= widen(a.gamma[col]);
    if (LAYER && a.has & HAS_BETA)
        y += widen(a.beta[col]);
    if (a.has & HAS_FP8)
        ((unsigned char *)a.y)[row * a.cols + col] = (unsigned char)pack_e4m3(y * a.scale, 0);
    else
        narrow(y, (T *)a.y + row * a.cols + col);
}

#endif
