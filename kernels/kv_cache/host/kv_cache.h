/*
 * kv_cache.h: the family's parameters and buffers, in their order; for lk_kv_cache.c as well.
 */
#ifndef LOCKSTEP_KV_CACHE_FAMILY_H
#define LOCKSTEP_KV_CACHE_FAMILY_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_kv_cache;

enum {
    KV_BATCH,
    KV_HEADS, /* of keys and values */
    KV_GROUP, /* query heads that share one */
    KV_KEYS,
    KV_DIM,
    KV_PAGE,
    KV_SPARE, /* pages beside those in the table */
    KV_CACHE,
    KV_STEP,
    KV_TOKENS,
    KV_TYPE,
    KV_LENGTHS
};
enum { KV_QUANTISED, KV_F16 };
enum { KV_ATTEND, KV_APPEND, KV_PREFILL };

/* Buffers of attend and prefill, and of append. */
enum { A_Q, A_K, A_V, A_V_SCALES, A_HEAD_SCALES, A_TABLE, A_LENGTHS, A_O };
enum { P_NEW_K, P_NEW_V, P_K, P_V, P_V_SCALES, P_HEAD_SCALES, P_TABLE, P_LENGTHS };

int64_t kv_pages_each(const struct zoo_problem *problem);
/* Queries of a head and sequence: 1, or in a prefill the tokens. */
int64_t kv_queries(const struct zoo_problem *problem);
int64_t kv_length(const struct zoo_problem *problem, int64_t sequence);
void kv_reference(const struct zoo_problem *problem, void *const *buffer,
                  struct zoo_expected *expected);

#endif
