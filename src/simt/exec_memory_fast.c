/*
 * exec_memory_fast.c: loads and stores of one element per lane, in the spaces that matter for
 * speed. One body per (space, address width, memory type, register width). A full warp that touches
 * neighbours, one address, or two rows of either is served by a few vector moves; the rest is
 * checked as a whole and gathered, or goes lane by lane (access.c).
 */
#include "simt/access.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Lane by lane, with all checks; for warps that are not full, and for faults. */
#define LOAD_SCATTERED(name, D, M, space, bits)                                                    \
    static __attribute__((noinline)) const struct simt_inst *name(struct simt_warp *w,             \
                                                                  const struct simt_inst *in)      \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!simt_access_scattered(w, in, space, bits, sizeof(M), false, hosts))                   \
            return NULL;                                                                           \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            M value;                                                                               \
            memcpy(&value, hosts[lane], sizeof(M));                                                \
            d[lane] = (D)value;                                                                    \
        }                                                                                          \
        return in + 1;                                                                             \
    }

#define STORE_SCATTERED(name, B, M, space, bits)                                                   \
    static __attribute__((noinline)) const struct simt_inst *name(struct simt_warp *w,             \
                                                                  const struct simt_inst *in)      \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!simt_access_scattered(w, in, space, bits, sizeof(M), true, hosts))                    \
            return NULL;                                                                           \
        const B *b = SIMT_SLOT(const B, in->b);                                                    \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            M value = (M)b[lane];                                                                  \
            memcpy(hosts[lane], &value, sizeof(M));                                                \
        }                                                                                          \
        return in + 1;                                                                             \
    }

/* COUNT lanes of values, from neighbours or from one address. */
#define TAKE(values, D, M, host, pattern, COUNT)                                                   \
    do {                                                                                           \
        const M *from = (const M *)(const void *)(host);                                           \
        D *to = (values);                                                                          \
        if ((pattern) == ACCESS_ONE) {                                                             \
            typedef D vector __attribute__((vector_size(32), aligned(4), may_alias));              \
            vector one = (vector){0} + (D)*from;                                                   \
            for (unsigned i = 0; i < (COUNT); i += 32 / sizeof(D))                                 \
                *(vector *)(void *)(to + i) = one;                                                 \
        } else if (sizeof(D) == sizeof(M)) {                                                       \
            memcpy(to, from, (COUNT) * sizeof(M));                                                 \
        } else {                                                                                   \
            SIMT_INDEPENDENT for (int i = 0; i < (COUNT); i++) to[i] = (D)from[i];                 \
        }                                                                                          \
    } while (0)

static inline uint64_t reach(enum access_pattern pattern, uint64_t size, unsigned lanes)
{
    return pattern == ACCESS_ONE ? size : size * lanes;
}

/* Declares `half` and takes the halves of a full warp that are one run or one address, up to the
 * first that is neither. */
#define TAKE_HALVES(D, M, PATTERN_OF, RANGE)                                                       \
    int half = 0;                                                                                  \
    for (; half < SIMT_LANES; half += ACCESS_HALF) {                                               \
        enum access_pattern pattern = PATTERN_OF(a + half, sizeof(M), ACCESS_HALF);                \
        if (pattern == ACCESS_SCATTERED)                                                           \
            break;                                                                                 \
        const uint8_t *host =                                                                      \
            RANGE(w, a[half] + imm, reach(pattern, sizeof(M), ACCESS_HALF), sizeof(M));            \
        if (!host)                                                                                 \
            return false;                                                                          \
        TAKE(d + half, D, M, host, pattern, ACCESS_HALF);                                          \
    }

/* Global
 * ------------------------------------------------------------------------------------------- */

#define LOAD_GLOBAL(name, D, M, space)                                                             \
    LOAD_SCATTERED(name##_scattered, D, M, space, 64)                                              \
    /* A full warp that is neither one run nor one address; false: not as usual. */                \
    static __attribute__((noinline)) bool name##_rows(const struct simt_warp *w,                   \
                                                      const uint64_t *a, uint64_t imm, D *d)       \
    {                                                                                              \
        TAKE_HALVES(D, M, access_pattern_64, access_range);                                        \
        if (half < SIMT_LANES) {                                                                   \
            if (!access_stretch(w, a, imm, sizeof(M)))                                             \
                return false;                                                                      \
            for (int i = 0; i < SIMT_LANES; i++)                                                   \
                d[i] = (D) * (const M *)(uintptr_t)(a[i] + imm + SIMT_BACKING);                    \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint64_t *a = SIMT_SLOT(const uint64_t, in->a);                                      \
        uint64_t imm = (uint64_t)in->imm;                                                          \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        if (w->mask != SIMT_ALL || in->d == in->a) /* the latter: addresses are overwritten */     \
            return name##_scattered(w, in);                                                        \
        enum access_pattern pattern = access_pattern_64(a, sizeof(M), SIMT_LANES);                 \
        if (pattern == ACCESS_SCATTERED)                                                           \
            return name##_rows(w, a, imm, d) ? in + 1 : name##_scattered(w, in);                   \
        const uint8_t *host =                                                                      \
            access_range(w, a[0] + imm, reach(pattern, sizeof(M), SIMT_LANES), sizeof(M));         \
        if (!host)                                                                                 \
            return name##_scattered(w, in);                                                        \
        TAKE(d, D, M, host, pattern, SIMT_LANES);                                                  \
        return in + 1;                                                                             \
    }

#define STORE_GLOBAL(name, B, M, space)                                                            \
    STORE_SCATTERED(name##_scattered, B, M, space, 64)                                             \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint64_t *a = SIMT_SLOT(const uint64_t, in->a);                                      \
        uint64_t imm = (uint64_t)in->imm;                                                          \
        if (w->mask != SIMT_ALL)                                                                   \
            return name##_scattered(w, in);                                                        \
        const B *b = SIMT_SLOT(const B, in->b);                                                    \
        if (access_pattern_64(a, sizeof(M), SIMT_LANES) == ACCESS_NEIGHBOURS) {                    \
            M *to = (M *)(void *)access_range(w, a[0] + imm, SIMT_LANES * sizeof(M), sizeof(M));   \
            if (!to)                                                                               \
                return name##_scattered(w, in);                                                    \
            SIMT_EACH_LANE to[i] = (M)b[i];                                                        \
            return in + 1;                                                                         \
        }                                                                                          \
        if (!access_stretch(w, a, imm, sizeof(M)))                                                 \
            return name##_scattered(w, in);                                                        \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            *(M *)(uintptr_t)(a[i] + imm + SIMT_BACKING) = (M)b[i];                                \
        return in + 1;                                                                             \
    }

/* Shared
 * --------------------------------------------------------------------------------------------- */

static inline uint8_t *run_inside(const struct simt_warp *w, uint32_t address, uint64_t bytes,
                                  uint32_t size)
{
    bool inside = !(address & (size - 1)) && address + bytes <= w->block->shared_bytes;
    return inside ? w->block->shared + address : NULL;
}

/* Gathered words from a base that all addresses were checked against. */
static inline void gather_words(void *values, const uint8_t *base, const uint32_t *a, uint32_t imm)
{
#ifdef __AVX2__
    for (int i = 0; i < SIMT_LANES; i += 8) {
        __m256i at = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(a + i)),
                                      _mm256_set1_epi32((int)imm));
        __m256i got = _mm256_i32gather_epi32((const int *)(const void *)base, at, 1);
        _mm256_storeu_si256((__m256i *)values + i / 8, got);
    }
#else
    for (int i = 0; i < SIMT_LANES; i++)
        memcpy((uint32_t *)values + i, base + (uint32_t)(a[i] + imm), 4);
#endif
}

#define LOAD_SHARED(name, D, M)                                                                    \
    LOAD_SCATTERED(name##_scattered, D, M, PTX_SPACE_SHARED, 32)                                   \
    LOAD_SCATTERED(name##_wide_scattered, D, M, PTX_SPACE_SHARED, 64)                              \
    static __attribute__((noinline)) bool name##_rows(const struct simt_warp *w,                   \
                                                      const uint32_t *a, uint32_t imm, D *d)       \
    {                                                                                              \
        TAKE_HALVES(D, M, access_pattern_32, run_inside);                                          \
        if (half < SIMT_LANES) {                                                                   \
            if (!access_inside(w, a, imm, sizeof(M), SIMT_LANES))                                  \
                return false;                                                                      \
            const uint8_t *shared = w->block->shared;                                              \
            if (sizeof(M) == 4 && sizeof(D) == 4)                                                  \
                gather_words(d, shared, a, imm);                                                   \
            else                                                                                   \
                for (int i = 0; i < SIMT_LANES; i++)                                               \
                    d[i] = (D) * (const M *)(const void *)(shared + (uint32_t)(a[i] + imm));       \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    static inline bool name##_full(const struct simt_warp *w, const uint32_t *a, uint32_t imm,     \
                                   D *d)                                                           \
    {                                                                                              \
        enum access_pattern pattern = access_pattern_32(a, sizeof(M), SIMT_LANES);                 \
        if (pattern == ACCESS_SCATTERED)                                                           \
            return name##_rows(w, a, imm, d);                                                      \
        const uint8_t *host =                                                                      \
            run_inside(w, a[0] + imm, reach(pattern, sizeof(M), SIMT_LANES), sizeof(M));           \
        if (!host)                                                                                 \
            return false;                                                                          \
        TAKE(d, D, M, host, pattern, SIMT_LANES);                                                  \
        return true;                                                                               \
    }                                                                                              \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint32_t *a = SIMT_SLOT(const uint32_t, in->a);                                      \
        bool done =                                                                                \
            w->mask == SIMT_ALL && name##_full(w, a, access_own(w, in), SIMT_SLOT(D, in->d));      \
        return done ? in + 1 : name##_scattered(w, in);                                            \
    }                                                                                              \
    SIMT_BODY(name##_wide)                                                                         \
    {                                                                                              \
        uint32_t a[SIMT_LANES];                                                                    \
        bool done = w->mask == SIMT_ALL &&                                                         \
                    access_narrow(SIMT_SLOT(const uint64_t, in->a), (uint64_t)in->imm, a) &&       \
                    name##_full(w, a, access_own(w, in), SIMT_SLOT(D, in->d));                     \
        return done ? in + 1 : name##_wide_scattered(w, in);                                       \
    }

#define STORE_SHARED(name, B, M)                                                                   \
    STORE_SCATTERED(name##_scattered, B, M, PTX_SPACE_SHARED, 32)                                  \
    STORE_SCATTERED(name##_wide_scattered, B, M, PTX_SPACE_SHARED, 64)                             \
    static inline bool name##_full(const struct simt_warp *w, const uint32_t *a, uint32_t imm,     \
                                   const B *b)                                                     \
    {                                                                                              \
        if (access_pattern_32(a, sizeof(M), SIMT_LANES) == ACCESS_NEIGHBOURS) {                    \
            M *to = (M *)(void *)run_inside(w, a[0] + imm, SIMT_LANES * sizeof(M), sizeof(M));     \
            if (!to)                                                                               \
                return false;                                                                      \
            SIMT_EACH_LANE to[i] = (M)b[i];                                                        \
            return true;                                                                           \
        }                                                                                          \
        if (!access_inside(w, a, imm, sizeof(M), SIMT_LANES))                                      \
            return false;                                                                          \
        uint8_t *shared = w->block->shared;                                                        \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            *(M *)(void *)(shared + (uint32_t)(a[i] + imm)) = (M)b[i];                             \
        return true;                                                                               \
    }                                                                                              \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint32_t *a = SIMT_SLOT(const uint32_t, in->a);                                      \
        bool done = w->mask == SIMT_ALL &&                                                         \
                    name##_full(w, a, access_own(w, in), SIMT_SLOT(const B, in->b));               \
        return done ? in + 1 : name##_scattered(w, in);                                            \
    }                                                                                              \
    SIMT_BODY(name##_wide)                                                                         \
    {                                                                                              \
        uint32_t a[SIMT_LANES];                                                                    \
        bool done = w->mask == SIMT_ALL &&                                                         \
                    access_narrow(SIMT_SLOT(const uint64_t, in->a), (uint64_t)in->imm, a) &&       \
                    name##_full(w, a, access_own(w, in), SIMT_SLOT(const B, in->b));               \
        return done ? in + 1 : name##_wide_scattered(w, in);                                       \
    }

/* A kernel's parameter is the same for all lanes. */
#define LOAD_PARAM(name, D, M)                                                                     \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        M value;                                                                                   \
        memcpy(&value, w->block->launch->params + in->imm, sizeof(M));                             \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        SIMT_STORE_LANES(D, (D)value)                                                              \
    }

/* The widths. A signed memory type widens with its sign; registers are 16, 32 or 64 bits.
 * ------------- */

#define LOADS(X)                                                                                   \
    X(u8_16, uint16_t, uint8_t, 8, 16, false)                                                      \
    X(s8_16, int16_t, int8_t, 8, 16, true)                                                         \
    X(u8_32, uint32_t, uint8_t, 8, 32, false)                                                      \
    X(s8_32, int32_t, int8_t, 8, 32, true)                                                         \
    X(u16_16, uint16_t, uint16_t, 16, 16, false)                                                   \
    X(s16_16, int16_t, int16_t, 16, 16, true)                                                      \
    X(u16_32, uint32_t, uint16_t, 16, 32, false)                                                   \
    X(s16_32, int32_t, int16_t, 16, 32, true)                                                      \
    X(u32_32, uint32_t, uint32_t, 32, 32, false)                                                   \
    X(s32_32, int32_t, int32_t, 32, 32, true)                                                      \
    X(u32_64, uint64_t, uint32_t, 32, 64, false)                                                   \
    X(s32_64, int64_t, int32_t, 32, 64, true)                                                      \
    X(u64_64, uint64_t, uint64_t, 64, 64, false)                                                   \
    X(s64_64, int64_t, int64_t, 64, 64, true)
#define STORES(X)                                                                                  \
    X(16_8, uint16_t, uint8_t, 8, 16, false)                                                       \
    X(32_8, uint32_t, uint8_t, 8, 32, false)                                                       \
    X(16_16, uint16_t, uint16_t, 16, 16, false)                                                    \
    X(32_16, uint32_t, uint16_t, 16, 32, false)                                                    \
    X(32_32, uint32_t, uint32_t, 32, 32, false)                                                    \
    X(64_32, uint64_t, uint32_t, 32, 64, false)                                                    \
    X(64_64, uint64_t, uint64_t, 64, 64, false)

#define LOAD_BODIES(suffix, D, M, memory, reg, sign)                                               \
    LOAD_GLOBAL(load_global_##suffix, D, M, PTX_SPACE_GLOBAL)                                      \
    LOAD_GLOBAL(load_generic_##suffix, D, M, PTX_SPACE_GENERIC)                                    \
    LOAD_SHARED(load_shared_##suffix, D, M)                                                        \
    LOAD_PARAM(load_param_##suffix, D, M)
LOADS(LOAD_BODIES)

#define STORE_BODIES(suffix, B, M, memory, reg, sign)                                              \
    STORE_GLOBAL(store_global_##suffix, B, M, PTX_SPACE_GLOBAL)                                    \
    STORE_GLOBAL(store_generic_##suffix, B, M, PTX_SPACE_GENERIC)                                  \
    STORE_SHARED(store_shared_##suffix, B, M)
STORES(STORE_BODIES)

struct fast_row {
    uint8_t memory_bits, register_bits;
    bool is_signed;
    simt_body *global, *generic, *shared, *shared_wide, *param;
};

#define LOAD_ROW(suffix, D, M, memory, reg, sign)                                                  \
    {memory,                                                                                       \
     reg,                                                                                          \
     sign,                                                                                         \
     load_global_##suffix,                                                                         \
     load_generic_##suffix,                                                                        \
     load_shared_##suffix,                                                                         \
     load_shared_##suffix##_wide,                                                                  \
     load_param_##suffix},
static const struct fast_row load_rows[] = {LOADS(LOAD_ROW)};

#define STORE_ROW(suffix, B, M, memory, reg, sign)                                                 \
    {memory,                                                                                       \
     reg,                                                                                          \
     sign,                                                                                         \
     store_global_##suffix,                                                                        \
     store_generic_##suffix,                                                                       \
     store_shared_##suffix,                                                                        \
     store_shared_##suffix##_wide,                                                                 \
     NULL},
static const struct fast_row store_rows[] = {STORES(STORE_ROW)};

static simt_body *body_for(const struct fast_row *row, const struct simt_operands *operands)
{
    bool wide = operands->a_bits == 64;
    if (operands->address == SIMT_ADDRESS_PARAM)
        return row->param;
    if (operands->address == SIMT_ADDRESS_FRAME)
        return NULL;
    switch (access_space(operands->ptx)) {
    case PTX_SPACE_SHARED:
        return wide ? row->shared_wide : row->shared;
    case PTX_SPACE_GLOBAL:
        return wide ? row->global : NULL;
    case PTX_SPACE_GENERIC:
        return wide ? row->generic : NULL;
    default:
        return NULL;
    }
}

static simt_body *find(const struct fast_row *rows, size_t count,
                       const struct simt_operands *operands, unsigned register_bits, bool is_signed)
{
    unsigned memory_bits = ptx_type_bits(operands->ptx->types[operands->ptx->type_count - 1]);
    for (size_t i = 0; i < count; i++)
        if (rows[i].memory_bits == memory_bits && rows[i].register_bits == register_bits &&
            rows[i].is_signed == is_signed)
            return body_for(&rows[i], operands);
    return NULL;
}

simt_body *SIMT_NAME(memory_fast_load)(const struct simt_operands *operands)
{
    enum ptx_type type = operands->ptx->types[operands->ptx->type_count - 1];
    return find(load_rows, sizeof(load_rows) / sizeof(*load_rows), operands, operands->d_bits,
                ptx_type_kind(type) == PTX_KIND_SIGNED);
}

simt_body *SIMT_NAME(memory_fast_store)(const struct simt_operands *operands)
{
    return find(store_rows, sizeof(store_rows) / sizeof(*store_rows), operands, operands->b_bits,
                false);
}
