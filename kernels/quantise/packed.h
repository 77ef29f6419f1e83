/*
 * packed.h: E2M1 from numbers of 16 bits, several to an instruction, as one for each takes more time
 * than the memory leaves. MXFP4 from bf16: a scale that is a power of two changes no digit of a
 * number, so that everything from the largest number to the code is exact in bf16, two at a time.
 * NVFP4: the product with the factor is rounded as f32, but largest numbers are found in pairs, signs
 * come from the numbers' own bits, eight at a time, and one multiply-add puts a code in its place.
 */
#ifndef LOCKSTEP_QUANTISE_PACKED_H
#define LOCKSTEP_QUANTISE_PACKED_H

#include "chunks.h"

template <class F, class T> static constexpr bool IS_PACKED = false;
template <> constexpr bool IS_PACKED<Mx<E2M1>, bf16> = true;

static __device__ __forceinline__ unsigned min_pair(unsigned a, unsigned b)
{
    unsigned c;
    asm("min.bf16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}
static __device__ __forceinline__ unsigned max_pair(unsigned a, unsigned b)
{
    unsigned c;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}
static __device__ __forceinline__ unsigned fma_pair(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* Bits of a where the mask has ones, else of b: one instruction, where compilers make two of what they know
 * about the bits. */
static __device__ __forceinline__ unsigned choose(unsigned a, unsigned b, unsigned mask)
{
    unsigned c;
    asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(c) : "r"(a), "r"(b), "r"(mask));
    return c;
}

/* The largest finite size of a chunk. */
static __device__ __forceinline__ float largest_packed(const uint4 (&raw)[CHUNK / 8])
{
    const unsigned size = 0x7fff7fff;
    unsigned both = 0;
#pragma unroll
    for (int v = 0; v < CHUNK / 8; v++) {
        both = max_pair(both, max_pair(raw[v].x & size, raw[v].y & size));
        both = max_pair(both, max_pair(raw[v].z & size, raw[v].w & size));
    }
    float2 pair = widen_pair(both, bf16());
    float largest = fmaxf(pair.x, pair.y), x[CHUNK];
    if (largest < INFINITY)
        return largest;
    widen_chunk<bf16>(raw, x); // infinities are rare
    return largest_of(x);
}

/* The codes of two numbers, in bits 0 to 3 and 16 to 19; bits above them are not zero. As in
 * code_e2m1, three lines and a limit: between 64 and 128 a bf16 counts in halves, so that 96 leaves
 * room for the code in the lowest three bits. `factor` is one over the scale. */
static __device__ __forceinline__ unsigned codes_e2m1(unsigned pair, uint3 factor)
{
    unsigned size = pair & 0x7fff7fff;
    unsigned code = min_pair(fma_pair(size, factor.x, 0x42c042c0), // 96 + size
                             fma_pair(size, factor.y, 0x42c242c2)); // 97 + size / 2
    code = min_pair(min_pair(code, fma_pair(size, factor.z, 0x42c442c4)), 0x42c742c7); // 98 + size / 4
    return choose(code, pair >> 12, 0x00070007);
}
/* Four words of codes, of which the first number's are lowest, as 8 codes in a word. */
static __device__ __forceinline__ unsigned four_codes(unsigned low, unsigned high)
{
    unsigned bytes = __byte_perm(low, high, 0x6240); // numbers 0, 2, 1, 3
    return choose(bytes, bytes >> 12, 0x0f0f);
}

static __device__ __forceinline__ void pack_chunk(const uint4 (&raw)[CHUNK / 8], unsigned scale,
                                                  unsigned (&codes)[CHUNK / 8])
{
    uint3 factor;
    factor.x = (254 - scale) * 0x00800080u;
    factor.y = (253 - scale) * 0x00800080u;
    factor.z = scale == 252 ? 0x00400040u : (252 - scale) * 0x00800080u; // 2^-127 has no exponent
#pragma unroll
    for (int v = 0; v < CHUNK / 8; v++)
        codes[v] = __byte_perm(
            four_codes(codes_e2m1(raw[v].x, factor), codes_e2m1(raw[v].y, factor)),
            four_codes(codes_e2m1(raw[v].z, factor), codes_e2m1(raw[v].w, factor)), 0x5410);
}

/* NVFP4 -----------------------------------------------------------------------------------------*/

template <class F, class T> static constexpr bool IS_IN_PAIRS = false;
template <> constexpr bool IS_IN_PAIRS<Nvfp4, bf16> = true;
template <> constexpr bool IS_IN_PAIRS<Nvfp4, f16> = true;

/* The larger sizes, under a sign that means nothing; NaN wins. */
static __device__ __forceinline__ unsigned max_sizes(unsigned a, unsigned b, bf16)
{
    unsigned c;
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}
static __device__ __forceinline__ unsigned max_sizes(unsigned a, unsigned b, f16)
{
    unsigned c;
    asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}
/* Of N vectors; not finite if one of the numbers is not. */
template <class T, int N> static __device__ __forceinline__ float largest_size(const uint4 (&raw)[N])
{
    unsigned both = 0;
#pragma unroll
    for (int v = 0; v < N; v++)
        both = max_sizes(max_sizes(both, max_sizes(raw[v].x, raw[v].y, T()), T()),
                         max_sizes(raw[v].z, raw[v].w, T()), T());
    float2 pair = widen_pair(both & 0x7fff7fff, T());
    return pair.x < INFINITY && pair.y < INFINITY ? fmaxf(pair.x, pair.y) : INFINITY;
}

/* The signs of 8 numbers, at the places that they have beside codes of 4 bits; other bits are not 0. */
static __device__ __forceinline__ unsigned eight_signs(uint4 v)
{
    unsigned low = __byte_perm(v.x, v.y, 0x7351), high = __byte_perm(v.z, v.w, 0x7351);
    unsigned even = __byte_perm(low, high, 0x5410), odd = __byte_perm(low, high, 0x7632);
    return choose(even >> 4, odd, 0x0f0f0f0f);
}

/* The codes of 8 finite numbers, none of which becomes more than 6.99. As in code_e2m1, but a code is
 * not cut out of its float: floats are multiplied by powers of 16 and added up as whole numbers, and
 * what they have above the codes is known. `sixteen` is that, hidden from a compiler that would shift
 * instead: products have instructions of their own, shifts wait for those of minima. */
template <class T>
static __device__ __forceinline__ unsigned eight_codes(uint4 v, float factor, unsigned sixteen)
{
    const float whole = 0x1.8p23f;
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
    unsigned sum = 0;
#pragma unroll
    for (int k = 7; k >= 0; k--) {
        float2 pair = widen_pair(word[k / 2], T());
        float size = fabsf(__fmul_rn(k % 2 ? pair.y : pair.x, factor));
        float code = fminf(fminf(fmaf(size, 2, whole), fmaf(size, 1, whole + 2)),
                           fmaf(size, 0.5f, whole + 4));
        sum = sum * sixteen + __float_as_uint(code);
    }
    sum -= 0x4b400000u * 0x11111111u; // of `whole`, eight times
    return choose(sum, eight_signs(v), 0x77777777);
}

#endif
