/*
 * hash.c: FNV-1a; see hash.h.
 */
#include "base/hash.h"

#include <string.h>

uint64_t lk_hash64(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

struct lk_hash128 lk_hash128_start(void)
{
    return (struct lk_hash128){0x6c62272e07bb0142u, 0x62b821756295c58du};
}

void lk_hash128_add(struct lk_hash128 *hash, const void *data, size_t size)
{
    const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
    const unsigned char *bytes = data;
    unsigned __int128 value = (unsigned __int128)hash->high << 64 | hash->low;
    for (size_t i = 0; i < size; i++)
        value = (value ^ bytes[i]) * prime;
    *hash = (struct lk_hash128){(uint64_t)(value >> 64), (uint64_t)value};
}

void lk_hash128_add_text(struct lk_hash128 *hash, const char *text)
{
    lk_hash128_add(hash, text, strlen(text) + 1);
}
