/*
 * access.h: from lanes' addresses to host bytes, for loads, stores and atomics.
 * Most warps touch 32 neighbours, or all the same address: both are found with a few vector
 * compares and checked once. Other full warps are checked as a whole too, the rest lane by lane.
 */
#ifndef LOCKSTEP_SIMT_ACCESS_H
#define LOCKSTEP_SIMT_ACCESS_H

#include "simt/core.h"

enum access_pattern { ACCESS_ONE, ACCESS_NEIGHBOURS, ACCESS_SCATTERED };

/* Vectors of addresses: written out, because the compiler makes scalars of short loops. */
typedef uint32_t access_v32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t access_v64 __attribute__((vector_size(32), aligned(8), may_alias));

static inline bool access_is_zero(access_v64 bits)
{
#ifdef __AVX__
    typedef long long v4 __attribute__((vector_size(32)));
    return __builtin_ia32_ptestz256((v4)bits, (v4)bits);
#else
    return !(bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

/* How the addresses of `lanes` lanes lie; size: bytes each touches. Both are constants where this
 * is inlined. */
#define ACCESS_PATTERN(name, T, V, IOTA)                                                           \
    static inline __attribute__((always_inline)) enum access_pattern name(const T *a, T size,      \
                                                                          int lanes)               \
    {                                                                                              \
        const int width = 32 / (int)sizeof(T);                                                     \
        T step = a[1] - a[0];                                                                      \
        if ((step != 0 && step != size) || a[lanes - 1] != a[0] + step * (T)(lanes - 1))           \
            return ACCESS_SCATTERED;                                                               \
        V expected = (V){0} + a[0], other = {0};                                                   \
        if (step)                                                                                  \
            expected += (V)IOTA * size;                                                            \
        for (int i = 0; i < lanes; i += width) {                                                   \
            other |= *(const V *)(const void *)(a + i) ^ expected;                                 \
            expected += step * (T)width;                                                           \
        }                                                                                          \
        if (!access_is_zero((access_v64)other))                                                    \
            return ACCESS_SCATTERED;                                                               \
        return step ? ACCESS_NEIGHBOURS : ACCESS_ONE;                                              \
    }
#define ACCESS_IOTA_64                                                                             \
    {                                                                                              \
        0, 1, 2, 3                                                                                 \
    }
#define ACCESS_IOTA_32                                                                             \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7                                                                     \
    }
ACCESS_PATTERN(access_pattern_64, uint64_t, access_v64, ACCESS_IOTA_64)
ACCESS_PATTERN(access_pattern_32, uint32_t, access_v32, ACCESS_IOTA_32)

/* A block that is 16 threads wide makes two rows of a warp, each of neighbours or of one address.
 */
enum { ACCESS_HALF = SIMT_LANES / 2 };

/* Global memory of one range of at most a granule, without a fault: NULL if something is not as
 * usual. Such a range touches two granules at most. */
static inline uint8_t *access_range(const struct simt_warp *w, uint64_t address, uint64_t bytes,
                                    uint64_t align)
{
    uint64_t first = address - w->arena, last = first + bytes - 1;
    if (address & (align - 1) || last >= SIMT_ARENA || first > last)
        return NULL;
    const uint8_t *granules = w->granules;
    if (!granules[first >> SIMT_GRANULE_BITS] || !granules[last >> SIMT_GRANULE_BITS])
        return NULL;
    return (uint8_t *)(uintptr_t)(address + SIMT_BACKING);
}

/* Do the addresses of a full warp, however they lie, fall into one allocated stretch of the arena
 * that is quickly looked over? Then they need no further check. */
static inline bool access_stretch(const struct simt_warp *w, const uint64_t *a, uint64_t imm,
                                  uint64_t size)
{
    enum { LONGEST = 64 }; /* granules */
    int64_t least = INT64_MAX, most = INT64_MIN;
    uint64_t low = imm;
    for (int i = 0; i < SIMT_LANES; i++) {
        int64_t address = (int64_t)a[i];
        least = address < least ? address : least;
        most = address > most ? address : most;
        low |= a[i];
    }
    uint64_t first = (uint64_t)least + imm - w->arena;
    uint64_t last = (uint64_t)most + imm - w->arena + size - 1;
    if (first >= SIMT_ARENA || last >= SIMT_ARENA || first > last || low & (size - 1))
        return false;
    first >>= SIMT_GRANULE_BITS;
    last >>= SIMT_GRANULE_BITS;
    if (last - first >= LONGEST)
        return false;
    for (; first <= last; first++)
        if (!w->granules[first])
            return false;
    return true;
}

/* Are the addresses of a full warp, however far apart, all allocated and aligned? Each touches size
 * bytes, so few that they lie in one granule. */
static inline bool access_all(const struct simt_warp *w, const uint64_t *a, uint64_t imm,
                              uint64_t size)
{
    uint64_t to_offset = imm - w->arena, any = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        any |= a[i] + to_offset;
    if (any >= SIMT_ARENA || any & (size - 1)) /* SIMT_ARENA is a power of two */
        return false;
    unsigned all = 1;
    for (int i = 0; i < SIMT_LANES; i++)
        all &= w->granules[(a[i] + to_offset) >> SIMT_GRANULE_BITS];
    return all;
}

/* What turns a shared address of the instruction into an offset in the block's own shared memory;
 * addresses of other blocks then lie far outside. */
static inline uint32_t access_own(const struct simt_warp *w, const struct simt_inst *in)
{
    return (uint32_t)in->imm - w->block->window;
}

/* Are the addresses of the first `lanes` lanes inside shared memory, and aligned? */
static inline bool access_inside(const struct simt_warp *w, const uint32_t *a, uint32_t imm,
                                 uint32_t size, int lanes)
{
    uint32_t most = 0, low = 0;
    for (int i = 0; i < lanes; i++) {
        uint32_t address = a[i] + imm;
        most = address > most ? address : most;
        low |= address;
    }
    return !(low & (size - 1)) && (uint64_t)most + size <= w->block->shared_bytes;
}

/* Addresses of shared memory in 64-bit registers, as clang writes them; false if one does not fit.
 */
static inline bool access_narrow(const uint64_t *a, uint64_t imm, uint32_t *narrowed)
{
    uint64_t high = 0;
    for (int i = 0; i < SIMT_LANES; i++) {
        narrowed[i] = (uint32_t)a[i];
        high |= (a[i] + imm) >> 32 | a[i] >> 32;
    }
    return high == 0;
}

/* Host address of each active lane; false after a fault. */
bool simt_access_scattered(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                           unsigned address_bits, uint32_t size, bool is_write,
                           uint8_t *hosts[SIMT_LANES]);

/* The same, whatever kind of address the instruction has. */
bool simt_access_hosts(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                       bool is_write, uint8_t *hosts[SIMT_LANES]);

#ifdef SIMT_ISA
/* exec_memory_fast.c: bodies for one element in global, generic, shared and parameter memory; NULL
 * if the access is of another kind. */
simt_body *SIMT_NAME(memory_fast_load)(const struct simt_operands *operands);
simt_body *SIMT_NAME(memory_fast_store)(const struct simt_operands *operands);

/* exec_memory_vector.c: the same for vectors of 8 and 16 bytes. */
simt_body *SIMT_NAME(memory_vector_load)(const struct simt_operands *operands);
simt_body *SIMT_NAME(memory_vector_store)(const struct simt_operands *operands);
#endif

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

/* One access of the host for one lane's bytes, so that other threads, of the machine or of the
 * program, see a word, a vector or 16 bytes whole or not at all, as on the GPU (CUB keeps a flag
 * and its value in one). bytes is 1, 2, 4, 8, 16 or 32 (two halves), and memory is aligned to it,
 * but for a vector in a kernel's parameters. */
static inline void access_move(void *to, const void *from, uint32_t bytes)
{
    typedef uint64_t whole __attribute__((vector_size(16), aligned(1), may_alias));
    typedef uint64_t __attribute__((may_alias, aligned(1))) eight;
    typedef uint32_t __attribute__((may_alias, aligned(1))) four;
    typedef uint16_t __attribute__((may_alias, aligned(1))) two;
    switch (bytes) {
    case 32:
        ((volatile whole *)to)[0] = ((const volatile whole *)from)[0];
        ((volatile whole *)to)[1] = ((const volatile whole *)from)[1];
        break;
    case 16:
        *(volatile whole *)to = *(const volatile whole *)from;
        break;
    case 8:
        *(volatile eight *)to = *(const volatile eight *)from;
        break;
    case 4:
        *(volatile four *)to = *(const volatile four *)from;
        break;
    case 2:
        *(volatile two *)to = *(const volatile two *)from;
        break;
    default:
        memcpy(to, from, bytes);
    }
}

#endif
