/*
 * hash.h: FNV-1a with 64 and 128 bits. Not for security: it only has to make accidental collisions
 * unlikely.
 */
#ifndef LOCKSTEP_BASE_HASH_H
#define LOCKSTEP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes more bytes on top of a hash, which begins as LK_HASH64. */
#define LK_HASH64 ((uint64_t)0xcbf29ce484222325u)
uint64_t lk_hash64(uint64_t hash, const void *data, size_t size);

struct lk_hash128 {
    uint64_t high, low;
};
struct lk_hash128 lk_hash128_start(void);
void lk_hash128_add(struct lk_hash128 *hash, const void *data, size_t size);
void lk_hash128_add_text(struct lk_hash128 *hash, const char *text); /* with its NUL */

#endif
