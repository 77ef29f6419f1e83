/*
 * access.h: from lanes' addresses to host bytes, for loads, stores and atomics.
 * Most warps touch 32 neighbours, or all the same address: both are found with a few vector
 * compares and checked once. Everything else is checked lane by lane.
 */
#ifndef LOCKSTEP_SIMT_ACCESS_H
#define LOCKSTEP_SIMT_ACCESS_H

#include "simt/core.h"

enum access_pattern { ACCESS_ONE, ACCESS_NEIGHBOURS, ACCESS_SCATTERED };

/* How the addresses of a full warp lie; size: bytes each lane touches, a constant where this is
 * inlined, so that the multiples of it are too. */
#define ACCESS_PATTERN(name, T)                                                                    \
    static inline enum access_pattern name(const T *a, T size)                                     \
    {                                                                                              \
        T step = a[1] - a[0], first = a[0], other = 0;                                             \
        if (step == 0) {                                                                           \
            for (int i = 0; i < SIMT_LANES; i++)                                                   \
                other |= a[i] ^ first;                                                             \
            return other ? ACCESS_SCATTERED : ACCESS_ONE;                                          \
        }                                                                                          \
        if (step != size)                                                                          \
            return ACCESS_SCATTERED;                                                               \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            other |= a[i] ^ (first + size * (T)i);                                                 \
        return other ? ACCESS_SCATTERED : ACCESS_NEIGHBOURS;                                       \
    }
ACCESS_PATTERN(access_pattern_64, uint64_t)
ACCESS_PATTERN(access_pattern_32, uint32_t)

/* Global memory of one range, without a fault: NULL if something is not as usual. */
static inline uint8_t *access_range(const struct simt_warp *w, uint64_t address, uint64_t bytes,
                                    uint64_t align)
{
    if (address & (align - 1))
        return NULL;
    return simt_memory_host(&w->block->launch->machine->memory, address, bytes);
}

/* Do the addresses of a full warp, however they lie, fall into one allocated stretch of the arena
 * that is quickly looked over? Then they need no further check. */
static inline bool access_stretch(const struct simt_warp *w, const uint64_t *a, uint64_t imm,
                                  uint64_t size)
{
    enum { LONGEST = 64 }; /* granules */
    const struct simt_memory *memory = &w->block->launch->machine->memory;
    int64_t least = INT64_MAX, most = INT64_MIN;
    uint64_t low = imm;
    for (int i = 0; i < SIMT_LANES; i++) {
        int64_t address = (int64_t)a[i];
        least = address < least ? address : least;
        most = address > most ? address : most;
        low |= a[i];
    }
    uint64_t first = (uint64_t)least + imm - memory->base;
    uint64_t last = (uint64_t)most + imm - memory->base + size - 1;
    if (first >= SIMT_ARENA || last >= SIMT_ARENA || first > last || low & (size - 1))
        return false;
    first >>= SIMT_GRANULE_BITS;
    last >>= SIMT_GRANULE_BITS;
    if (last - first >= LONGEST)
        return false;
    for (; first <= last; first++)
        if (!memory->granules[first])
            return false;
    return true;
}

/* Host address of each active lane; false after a fault. */
bool simt_access_scattered(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                           unsigned address_bits, uint32_t size, bool is_write,
                           uint8_t *hosts[SIMT_LANES]);

static inline enum ptx_space access_space(const struct ptx_inst *ptx)
{
    if (ptx_has(ptx, PTX_MOD_GLOBAL) || ptx_has(ptx, PTX_MOD_CONST))
        return PTX_SPACE_GLOBAL;
    if (ptx_has(ptx, PTX_MOD_SHARED) || ptx_has(ptx, PTX_MOD_SHARED_CTA) ||
        ptx_has(ptx, PTX_MOD_SHARED_CLUSTER))
        return PTX_SPACE_SHARED;
    if (ptx_has(ptx, PTX_MOD_LOCAL))
        return PTX_SPACE_LOCAL;
    if (ptx_has(ptx, PTX_MOD_PARAM) || ptx_has(ptx, PTX_MOD_PARAM_ENTRY) ||
        ptx_has(ptx, PTX_MOD_PARAM_FUNC))
        return PTX_SPACE_PARAM;
    return PTX_SPACE_GENERIC;
}

#endif
