/*
 * philox.h: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
 * 2011): random numbers that are a function of a seed and a place, so that any thread can make any of
 * them, at any time, and a mask need not be stored to be had again. src/zoo/philox.h is its twin for
 * the CPU.
 */
#ifndef LOCKSTEP_KERNELS_PHILOX_H
#define LOCKSTEP_KERNELS_PHILOX_H

/* Ten rounds: two products of 64 bits, whose halves change places. */
static __device__ __forceinline__ uint4 philox(uint4 counter, uint2 key)
{
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned long long a = (unsigned long long)counter.x * 0xd2511f53u;
        unsigned long long b = (unsigned long long)counter.z * 0xcd9e8d57u;
        counter = make_uint4((unsigned)(b >> 32) ^ counter.y ^ key.x, (unsigned)b,
                             (unsigned)(a >> 32) ^ counter.w ^ key.y, (unsigned)a);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}

/* A stream of random numbers: the key is the seed; the upper half of the counter is the offset, which a
 * program changes from call to call. `state` has two numbers to add to them, or is NULL: what lies in
 * device memory may change between the replays of a graph. */
struct random_stream {
    unsigned long long seed, offset;
};
static __device__ __forceinline__ random_stream stream_of(long long seed, long long offset,
                                                          const long long *state)
{
    random_stream s = {(unsigned long long)seed, (unsigned long long)offset};
    if (state) {
        s.seed += (unsigned long long)state[0];
        s.offset += (unsigned long long)state[1];
    }
    return s;
}

/* Four words: number `index` of the stream. */
static __device__ __forceinline__ uint4 random_words(random_stream s, long long index)
{
    return philox(make_uint4((unsigned)index, (unsigned)(index >> 32), (unsigned)s.offset,
                             (unsigned)(s.offset >> 32)),
                  make_uint2((unsigned)s.seed, (unsigned)(s.seed >> 32)));
}

/* 16 bits an element: element i has half-word i % 8 of words i / 8, whatever its type. The words of the
 * N elements (4 or 8) from `at` on, a multiple of N; then the bits of element k of them. */
template <int N>
static __device__ __forceinline__ uint4 half_words(random_stream s, long long at)
{
    uint4 words = random_words(s, at / 8);
    if (N == 4 && at % 8 != 0) {
        words.x = words.z;
        words.y = words.w;
    }
    return words;
}
static __device__ __forceinline__ unsigned half_word(uint4 words, int k)
{
    unsigned word = k < 4 ? (k < 2 ? words.x : words.y) : (k < 6 ? words.z : words.w);
    return k % 2 ? word >> 16 : word & 0xffff;
}

/* An element is dropped if its bits are below `threshold`, which is p 2^16, and else multiplied by
 * 1 / (1 - p). */
struct dropout {
    random_stream stream;
    unsigned threshold;
    float scale;
};
static __device__ __forceinline__ float drop(dropout d, uint4 words, int k, float x)
{
    return half_word(words, k) < d.threshold ? 0.0f : x * d.scale;
}
static __device__ __forceinline__ float drop_one(dropout d, long long at, float x)
{
    return drop(d, random_words(d.stream, at / 8), (int)(at % 8), x);
}

#endif
