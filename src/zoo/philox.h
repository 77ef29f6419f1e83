/*
 * philox.h: Philox4x32-7 for references and launches; kernels/include/philox.h has the same for
 * kernels, and says how dropout uses it.
 */
#ifndef LOCKSTEP_ZOO_PHILOX_H
#define LOCKSTEP_ZOO_PHILOX_H

#include <stdbool.h>
#include <stdint.h>

static inline void zoo_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 7; round++) {
        uint64_t a = (uint64_t)c[0] * 0xd2511f53U, b = (uint64_t)c[2] * 0xcd9e8d57U;
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)a;
        k[0] += 0x9e3779b9U;
        k[1] += 0xbb67ae85U;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

/* Number `index` of the stream that a seed and an offset stand for. */
static inline void zoo_random_words(uint64_t seed, uint64_t offset, uint64_t index, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)offset,
                                 (uint32_t)(offset >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    zoo_philox(counter, key, out);
}

/* p in units of 2^-16, and what remains is multiplied by so that the mean stays. */
struct zoo_dropout {
    uint32_t threshold;
    float scale;
};
static inline struct zoo_dropout zoo_dropout_of(double p)
{
    double units = p <= 0 ? 0 : p >= 1 ? 65536 : p * 65536 + 0.5;
    uint32_t threshold = (uint32_t)units;
    return (struct zoo_dropout){threshold,
                                threshold < 65536 ? (float)(65536.0 / (65536 - threshold)) : 0};
}
/* Is the weight of a query and a key dropped? kernels/include/weight_dropout.h says by which bits;
 * `head` counts the heads of Q of all sequences. */
struct zoo_weight {
    int64_t head, queries, keys; /* queries and keys: of the longest sequence */
    int64_t query, key;
};
/* Where the counter begins: by Philox, from seed and offset. */
struct zoo_weight_stream {
    uint64_t low, high;
};
static inline struct zoo_weight_stream zoo_weight_stream(uint64_t seed, uint64_t offset)
{
    uint32_t words[4];
    zoo_random_words(seed, offset, 0, words);
    return (struct zoo_weight_stream){words[0] | (uint64_t)words[1] << 32,
                                      words[2] | (uint64_t)words[3] << 32};
}
static inline bool zoo_weight_dropped(struct zoo_dropout d, uint64_t seed, uint64_t offset,
                                      struct zoo_weight w)
{
    struct zoo_weight_stream from = zoo_weight_stream(seed, offset);
    uint32_t words[4];
    int64_t line = (w.head * ((w.queries + 15) / 16) + w.query / 16) * 8 + w.query % 8;
    int64_t index = (line * ((w.keys + 15) / 16) + w.key / 16) * 4 + w.key % 8 / 2;
    uint64_t at = from.low + (uint64_t)index;
    const uint32_t key[2] = {0}, counter[4] = {(uint32_t)at, (uint32_t)(at >> 32),
                                               (uint32_t)from.high, (uint32_t)(from.high >> 32)};
    zoo_philox(counter, key, words);
    uint32_t word = words[w.key % 2 * 2 + w.key / 8 % 2];
    return (word >> (w.query / 8 % 2 * 16) & 0xffff) < d.threshold;
}
static inline bool zoo_dropped(struct zoo_dropout d, uint64_t seed, uint64_t offset, uint64_t at)
{
    uint32_t words[4];
    zoo_random_words(seed, offset, at / 8, words);
    return (words[at % 8 / 2] >> 16 * (at % 2) & 0xffff) < d.threshold;
}

#endif
