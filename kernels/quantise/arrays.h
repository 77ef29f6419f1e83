/*
 * arrays.h: what every variant shares: how formats, scales and arrays belong together, stochastic
 * rounding, and the kernels' names. A thread takes CHUNK numbers of a row at a time; rows of 4-bit
 * numbers begin at a byte, the first number of a byte is in its low half.
 */
#ifndef LOCKSTEP_QUANTISE_ARRAYS_H
#define LOCKSTEP_QUANTISE_ARRAYS_H

#include "philox.h"
#include "quantised.h"

#ifndef CHUNK
#define CHUNK 16 // numbers of a thread
#endif

/* Who shares a scale; as kernels/quantise/host/quantise.h counts them. */
enum { BY_TENSOR, BY_ROW, BY_CHANNEL, BY_BLOCKS };

/* Scales: floats for whichever numbers share one, or bytes for blocks of a fixed size. */
enum { FLOATS, POWERS, TWO_LEVELS };
template <class F> struct Plain : F {
    enum { SCALES = FLOATS };
};
template <class F> struct Mx : F {
    enum { SCALES = POWERS };
};
struct Nvfp4 : E2M1 {
    enum { SCALES = TWO_LEVELS };
};

struct arrays {
    void *x;                  // [rows][cols] numbers
    unsigned char *q;         // [rows][bytes_of(cols)]
    void *scales;             // floats, or bytes [rows][blocks]
    float *tensor_scale;      // of NVFP4
    const float *factors;     // 1 / scale for each float of scales; of NVFP4 for tensor_scale
    long long rows;
    int cols, by, block;      // block: numbers that share a scale, where by is BY_BLOCKS
    int stochastic;
    unsigned key;             // of the random numbers
};

template <class F> static __device__ __forceinline__ long long bytes_of(int cols)
{
    return F::BITS == 8 ? cols : (cols + 1) / 2;
}
/* Which block a column is in, of those that share a scale: they are powers of two, so that nobody needs
 * to divide. */
static __device__ __forceinline__ int block_of(const arrays &a, int col)
{
    return col >> (31 - __clz(a.block));
}
static __device__ __forceinline__ int blocks_of(const arrays &a)
{
    return block_of(a, a.cols + a.block - 1);
}
/* Where the float of a number's scale is. */
static __device__ __forceinline__ long long place_of_scale(const arrays &a, long long row, int col)
{
    if (a.by == BY_BLOCKS)
        return row * blocks_of(a) + block_of(a, col);
    return a.by == BY_ROW ? row : a.by == BY_CHANNEL ? col : 0;
}

/* Random numbers for the four elements from this column on, which is a multiple of 4: they depend on
 * the key and the place alone. */
static __device__ __forceinline__ uint4 random_at(unsigned key, long long row, int col)
{
    return philox(make_uint4((unsigned)col / 4, (unsigned)row, (unsigned)(row >> 32), 0),
                  make_uint2(key, 0));
}

/* One of the format's two neighbours of x, the nearer one more often: rounding it changes nothing.
 * The chance is exact to 2^-24. */
template <class F> static __device__ __forceinline__ float dither(float x, unsigned random)
{
    float size = fabsf(x), unit = 1, per_unit = 1;
    size = size > 0x1p100f ? 0x1p100f : size;
    if (!F::INTEGER) {
        unsigned exponent = max(__float_as_uint(size) & 0x7f800000u, (unsigned)(127 + F::LEAST) << 23);
        unit = __uint_as_float(exponent - ((unsigned)F::MANTISSA << 23));
        per_unit = __uint_as_float((254u << 23) - __float_as_uint(unit));
    }
    float units = size * per_unit, whole = floorf(units);
    whole += (float)(random >> 8) * 0x1p-24f < units - whole ? 1 : 0;
    return copysignf(whole * unit, x);
}

/* N numbers, scaled already, as codes: 4 to a word of 32 or 16 bits. */
template <class F, int N>
static __device__ __forceinline__ void pack_all(const float (&x)[N], unsigned (&codes)[N * F::BITS / 32])
{
    unsigned part[N / 4];
#pragma unroll
    for (int k = 0; k < N; k += 4)
        part[k / 4] = F::pack(x + k);
#pragma unroll
    for (int k = 0; k < N * F::BITS / 32; k++)
        codes[k] = F::BITS == 8 ? part[k] : part[2 * k] | part[2 * k + 1] << 16;
}
/* The same by chance, where that is asked for; from this row and column on. */
template <class F, int N>
static __device__ __forceinline__ void encode(const arrays &a, float (&x)[N], long long row, int col,
                                              unsigned (&codes)[N * F::BITS / 32])
{
    if (a.stochastic) {
#pragma unroll
        for (int k = 0; k < N; k += 4) {
            uint4 r = random_at(a.key, row, col + k);
            x[k] = dither<F>(x[k], r.x);
            x[k + 1] = dither<F>(x[k + 1], r.y);
            x[k + 2] = dither<F>(x[k + 2], r.z);
            x[k + 3] = dither<F>(x[k + 3], r.w);
        }
    }
    pack_all<F>(x, codes);
}
/* The scale of the block whose byte is at scales[at]. */
template <class F>
static __device__ __forceinline__ float scale_at(const arrays &a, long long at)
{
    unsigned byte = ((const unsigned char *)a.scales)[at];
    return F::SCALES == POWERS ? scale_of_e8m0(byte)
                               : __fmul_rn(scale_of_e4m3(byte), *a.tensor_scale);
}

/* PASS_KERNELS(ONE, pass): ONE(name, pass, format, type) for every format and type. */
#define OF_TYPES(ONE, pass, name, F)                                                               \
    ONE(pass##_##name##_f32, pass, F, float)                                                       \
    ONE(pass##_##name##_f16, pass, F, f16)                                                         \
    ONE(pass##_##name##_bf16, pass, F, bf16)
#define PLAIN_KERNELS(ONE, pass)                                                                   \
    OF_TYPES(ONE, pass, e4m3, Plain<E4M3>)                                                         \
    OF_TYPES(ONE, pass, e5m2, Plain<E5M2>)                                                         \
    OF_TYPES(ONE, pass, int8, Plain<Int8>)                                                         \
    OF_TYPES(ONE, pass, int4, Plain<Int4>)
#define ALL_KERNELS(ONE, pass)                                                                     \
    PLAIN_KERNELS(ONE, pass)                                                                       \
    OF_TYPES(ONE, pass, mxfp8, Mx<E4M3>)                                                           \
    OF_TYPES(ONE, pass, mxfp8_e5m2, Mx<E5M2>)                                                      \
    OF_TYPES(ONE, pass, mxfp4, Mx<E2M1>)                                                           \
    OF_TYPES(ONE, pass, nvfp4, Nvfp4)

/* quantise(a), or whichever pass it is, for numbers of type T. */
#define ONE_KERNEL(name, pass, F, T)                                                               \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(T *x, unsigned char *q, void *scales, float *tensor_scale, const float *factors,      \
             long long rows, int cols, int by, int block, int stochastic, unsigned key)            \
    {                                                                                              \
        pass<F, T>(arrays{x, q, scales, tensor_scale, factors, rows, cols, by, block, stochastic,  \
                          key});                                                                   \
    }

#endif
