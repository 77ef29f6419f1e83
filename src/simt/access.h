/*
 * access.h: from lanes' addresses to host bytes, for loads, stores and atomics.
 * Most warps touch 32 neighbours, or all the same address: both are found with a few vector
 * compares and checked once. Everything else is checked lane by lane.
 */
#ifndef LOCKSTEP_SIMT_ACCESS_H
#define LOCKSTEP_SIMT_ACCESS_H

#include "simt/core.h"

enum access_pattern { ACCESS_ONE, ACCESS_NEIGHBOURS, ACCESS_SCATTERED };

/* How the addresses of a full warp lie; size: bytes each lane touches. */
static inline enum access_pattern access_pattern_64(const uint64_t *a, uint64_t size)
{
    uint64_t step = a[1] - a[0], other = 0;
    if (step != 0 && step != size)
        return ACCESS_SCATTERED;
    for (int i = 0; i < SIMT_LANES; i++)
        other |= a[i] ^ (a[0] + step * (uint64_t)i);
    return other ? ACCESS_SCATTERED : step ? ACCESS_NEIGHBOURS : ACCESS_ONE;
}

static inline enum access_pattern access_pattern_32(const uint32_t *a, uint32_t size)
{
    uint32_t step = a[1] - a[0], other = 0;
    if (step != 0 && step != size)
        return ACCESS_SCATTERED;
    for (int i = 0; i < SIMT_LANES; i++)
        other |= a[i] ^ (a[0] + step * (uint32_t)i);
    return other ? ACCESS_SCATTERED : step ? ACCESS_NEIGHBOURS : ACCESS_ONE;
}

/* Global memory of one range, without a fault: NULL if something is not as usual. */
static inline uint8_t *access_range(const struct simt_warp *w, uint64_t address, uint64_t bytes,
                                    uint64_t align)
{
    if (address & (align - 1))
        return NULL;
    return simt_memory_host(&w->block->launch->machine->memory, address, bytes);
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
