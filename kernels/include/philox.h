/*
 * philox.h: Philox4x32-7 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
 * 2011): random numbers that are a function of a seed and a place, so that any thread can make any
 * of them, at any time, and a mask need not be stored to be had again. Seven rounds are enough to
 * pass all tests of BigCrush, by that paper. src/zoo/philox.h is its twin for the CPU.
 */
#ifndef LOCKSTEP_KERNELS_PHILOX_H
#define LOCKSTEP_KERNELS_PHILOX_H

#define PHILOX_ROUNDS 7

/* One round: two products of 64 bits, whose halves change places. */
static __device__ __forceinline__ uint4 philox_round(uint4 counter, unsigned key0, unsigned key1)
{
    unsigned long long a = (unsigned long long)counter.x * 0xd2511f53u;
    unsigned long long b = (unsigned long long)counter.z * 0xcd9e8d57u;
    return make_uint4((unsigned)(b >> 32) ^ counter.y ^ key0, (unsigned)b,
                      (unsigned)(a >> 32) ^ counter.w ^ key1, (unsigned)a);
}
static __device__ __forceinline__ uint4 philox(uint4 counter, uint2 key)
{
#pragma unroll
    for (int round = 0; round < PHILOX_ROUNDS; round++)
        counter = philox_round(counter, key.x + round * 0x9e3779b9u, key.y + round * 0xbb67ae85u);
    return counter;
}

/* The keys of all rounds, for a thread that calls Philox several times: additions to the key are a third
 * of its instructions. They come from shared memory, because the compiler would rather add again than
 * keep 14 registers. Every thread of a block of at least 32 calls it. */
struct round_keys {
    uint2 of[PHILOX_ROUNDS];
};
static __device__ __forceinline__ round_keys keys_of(unsigned long long seed)
{
    __shared__ uint2 keys[PHILOX_ROUNDS];
    unsigned round = threadIdx.x;
    if (round < PHILOX_ROUNDS)
        keys[round] = make_uint2((unsigned)seed + round * 0x9e3779b9u,
                                 (unsigned)(seed >> 32) + round * 0xbb67ae85u);
    __syncthreads();
    round_keys k;
#pragma unroll
    for (int i = 0; i < PHILOX_ROUNDS; i++)
        k.of[i] = keys[i];
    return k;
}
static __device__ __forceinline__ uint4 philox(uint4 counter, const round_keys &k)
{
#pragma unroll
    for (int i = 0; i < PHILOX_ROUNDS; i++)
        counter = philox_round(counter, k.of[i].x, k.of[i].y);
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
static __device__ __forceinline__ uint4 counter_of(random_stream s, unsigned long long index)
{
    return make_uint4((unsigned)index, (unsigned)(index >> 32), (unsigned)s.offset,
                      (unsigned)(s.offset >> 32));
}
static __device__ __forceinline__ uint4 random_words(random_stream s, unsigned long long index)
{
    return philox(counter_of(s, index), make_uint2((unsigned)s.seed, (unsigned)(s.seed >> 32)));
}

/* 16 bits an element: element i has half-word i % 8 of words i / 8, whatever its type. The words of the
 * N elements (4 or 8) from `at` on, a multiple of N; then the bits of element k of them. */
template <int N>
static __device__ __forceinline__ uint4 words_from(uint4 words, unsigned long long at)
{
    if (N == 4 && at % 8 != 0) {
        words.x = words.z;
        words.y = words.w;
    }
    return words;
}
template <int N>
static __device__ __forceinline__ uint4 half_words(random_stream s, unsigned long long at)
{
    return words_from<N>(random_words(s, at / 8), at);
}
template <int N>
static __device__ __forceinline__ uint4 half_words(random_stream s, const round_keys &keys,
                                                   unsigned long long at)
{
    return words_from<N>(philox(counter_of(s, at / 8), keys), at);
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
static __device__ __forceinline__ float drop_one(dropout d, unsigned long long at, float x)
{
    return drop(d, random_words(d.stream, at / 8), (int)(at % 8), x);
}

#endif
