/*
 * cache.h: keys and values of attention in pages: K in e4m3, V in NVFP4 (e2m1 with an e4m3 scale for
 * 16 numbers), and an f32 scale for K and one for V of each head. 200 bytes for a key of 128 numbers
 * and its value, where bf16 has 512. Or both in f16, for comparison.
 *
 * Pages are [pages][kv_heads][page][..]: K dim bytes a key, V dim / 2, its scales dim / 16. table[b][i] is
 * the page with keys i * page and on of sequence b.
 */
#ifndef LOCKSTEP_KV_CACHE_H
#define LOCKSTEP_KV_CACHE_H

#include "quantised.h"

struct cache {
    unsigned char *k, *v, *v_scales; // of f16: k and v alone
    const float *head_scales;        // [kv_heads][2]: of K, of V
    const int *table, *lengths;      // [batch][pages_each], [batch]
    int heads, kv_heads, page, pages_each;
};

/* Which key of the whole cache this is: times the bytes of a key, its place. */
static __device__ __forceinline__ long long row_of(const cache &c, int sequence, int head, int key)
{
    long long page = c.table[(long long)sequence * c.pages_each + key / c.page];
    return (page * c.kv_heads + head) * c.page + key % c.page;
}

#define CACHE_PARAMETERS                                                                           \
    unsigned char *k, unsigned char *v, unsigned char *v_scales, const float *head_scales,         \
        const int *table, const int *lengths, int heads, int kv_heads, int page, int pages_each
#define CACHE_ARGUMENTS                                                                            \
    cache                                                                                          \
    {                                                                                              \
        k, v, v_scales, head_scales, table, lengths, heads, kv_heads, page, pages_each             \
    }

#endif
