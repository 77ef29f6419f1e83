/*
 * attention_numbers.h: the numbers of attention: bf16, f16 and f32 in memory, and exponentials and
 * logarithms to the base 2, as forward, decode and backward use them.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_NUMBERS_H
#define LOCKSTEP_KERNELS_ATTENTION_NUMBERS_H

static __device__ __forceinline__ float lowest(void)
{
    return __int_as_float(0xff800000); /* minus infinity */
}
/* 2 to the x; numbers below 2^-126 become 0. */
static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ __forceinline__ float log2_fast(float x)
{
    float y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/* tanh by an exponential, whose error is some units of 2^-24, where tanh.approx has 2^-11. */
static __device__ __forceinline__ float tanh_fast(float x)
{
    return 1.0f - __fdividef(2.0f, 1.0f + exp2_fast(x * 2.885390082f));
}
/* A row's log-sum-exp from its largest score (in units of log2) and the sum of exponentials. */
static __device__ __forceinline__ float lse_of(float largest, float sum)
{
    return sum == 0 ? lowest() : (largest + log2_fast(sum)) * 0.6931471806f;
}
/* Types of numbers -----------------------------------------------------------------------------*/

/* Two numbers in 32 bits, the first one in the lower half. */
struct bf16 {
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        unsigned both;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
    static __device__ __forceinline__ void unpack(unsigned both, float &low, float &high)
    {
        low = __uint_as_float(both << 16);
        high = __uint_as_float(both & 0xffff0000);
    }
    static __device__ __forceinline__ float load(const void *from, long long at)
    {
        return __uint_as_float((unsigned)((const unsigned short *)from)[at] << 16);
    }
    static __device__ __forceinline__ void store(void *to, long long at, float x)
    {
        ((unsigned short *)to)[at] = (unsigned short)pack(x, 0);
    }
};
struct f16 {
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        unsigned both;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
    static __device__ __forceinline__ void unpack(unsigned both, float &low, float &high)
    {
        asm("{ .reg .b16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y; }"
            : "=f"(low), "=f"(high)
            : "r"(both));
    }
    static __device__ __forceinline__ float load(const void *from, long long at)
    {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(((const unsigned short *)from)[at]));
        return x;
    }
    static __device__ __forceinline__ void store(void *to, long long at, float x)
    {
        ((unsigned short *)to)[at] = (unsigned short)pack(x, 0);
    }
};
struct f32 {
    static __device__ __forceinline__ float load(const void *from, long long at)
    {
        return ((const float *)from)[at];
    }
    static __device__ __forceinline__ void store(void *to, long long at, float x)
    {
        ((float *)to)[at] = x;
    }
};

/* Read as e4m3, written as bf16. */
struct e4m3 {
    static __device__ __forceinline__ float load(const void *from, long long at)
    {
        unsigned code = ((const unsigned char *)from)[at], size = code & 0x7f;
        float x = __uint_as_float(size << 20) * 0x1p120f; /* also of denormals */
        x = size == 0x7f ? __uint_as_float(0x7fffffff) : x;
        return code & 0x80 ? -x : x;
    }
    static __device__ __forceinline__ void store(void *to, long long at, float x)
    {
        bf16::store(to, at, x);
    }
    /* Four numbers in 32 bits, the first one in the lowest byte; at most 448. */
    static __device__ __forceinline__ unsigned pack(float x0, float x1, float x2, float x3)
    {
        unsigned all;
        asm("{ .reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; "
            "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3; mov.b32 %0, {low, high}; }"
            : "=r"(all)
            : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
        return all;
    }
};

/* Sums of tensor cores -------------------------------------------------------------------------*/

/* The sums of a product as the first factor of another. */
template <class type, int count>
static __device__ __forceinline__ void pack(unsigned (&weights)[count][4],
                                            const float (&scores)[count * 8])
{
#pragma unroll
    for (int i = 0; i < count; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            weights[i][j] = type::pack(scores[8 * i + 2 * j], scores[8 * i + 2 * j + 1]);
}

/* Of 32 columns that four threads share, each gets eight neighbours: 16 bytes. */
template <class type>
static __device__ __forceinline__ uint4 exchange(const float *out, int h, float by)
{
    unsigned lane = threadIdx.x % 4, word[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = type::pack(out[4 * i + 2 * h] * by, out[4 * i + 2 * h + 1] * by);
#pragma unroll
    for (unsigned bit = 1; bit < 4; bit *= 2)
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            if (!(i & bit)) {
                unsigned give = lane & bit ? word[i] : word[i + bit];
                give = __shfl_xor_sync(0xffffffff, give, bit);
                word[i] = lane & bit ? give : word[i];
                word[i + bit] = lane & bit ? word[i + bit] : give;
            }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

#endif
