/*
 * exec_memory_vector.c: loads and stores of vectors of 8 and 16 bytes a lane: two or four words, or
 * two elements of 64 bits. A full warp in global or shared memory is checked as a whole, then
 * memory's [lane][element] becomes the registers' [element][lane] in blocks of four lanes. All
 * other warps go lane by lane.
 */
#include "simt/access.h"

#define INLINE static inline __attribute__((always_inline))

enum form { WORDS_2, WORDS_4, LONGS_2 };

/* Where the lanes' bytes are: base + address, or, in shared memory, base + 32 bits of address. */
struct places {
    uint8_t *base;
    const uint64_t *wide;
    const uint32_t *narrow;
    uint32_t imm; /* of narrow addresses; base has that of wide ones */
};

INLINE uint8_t *place_of(const struct places *p, int lane)
{
    return p->narrow ? p->base + (uint32_t)(p->narrow[lane] + p->imm) : p->base + p->wide[lane];
}

/* Blocks of four lanes --------------------------------------------------------------------------
 */

typedef uint32_t words __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t longs __attribute__((vector_size(16), aligned(8), may_alias));

INLINE void transpose_words(words x[4])
{
    longs a = (longs)SIMT_SHUFFLE(words, x[0], x[1], 0, 4, 1, 5);
    longs b = (longs)SIMT_SHUFFLE(words, x[0], x[1], 2, 6, 3, 7);
    longs c = (longs)SIMT_SHUFFLE(words, x[2], x[3], 0, 4, 1, 5);
    longs d = (longs)SIMT_SHUFFLE(words, x[2], x[3], 2, 6, 3, 7);
    x[0] = (words)SIMT_SHUFFLE(longs, a, c, 0, 2), x[1] = (words)SIMT_SHUFFLE(longs, a, c, 1, 3);
    x[2] = (words)SIMT_SHUFFLE(longs, b, d, 0, 2), x[3] = (words)SIMT_SHUFFLE(longs, b, d, 1, 3);
}

#define SLOT(type, k) ((type *)(void *)(w->regs + in->list[k]))

INLINE void load_block(struct simt_warp *w, const struct simt_inst *in, const struct places *p,
                       enum form form, int lane)
{
    uint8_t *from[4];
    for (int i = 0; i < 4; i++)
        from[i] = place_of(p, lane + i);
    if (form == WORDS_4) {
        words x[4];
        for (int i = 0; i < 4; i++)
            x[i] = *(const words *)(const void *)from[i];
        transpose_words(x);
        for (int k = 0; k < 4; k++)
            *(words *)(void *)(SLOT(uint32_t, k) + lane) = x[k];
    } else if (form == WORDS_2) {
        uint64_t *const *at = (uint64_t *const *)(void *)from;
        words x = (words)(longs){*at[0], *at[1]}, y = (words)(longs){*at[2], *at[3]};
        *(words *)(void *)(SLOT(uint32_t, 0) + lane) = SIMT_SHUFFLE(words, x, y, 0, 2, 4, 6);
        *(words *)(void *)(SLOT(uint32_t, 1) + lane) = SIMT_SHUFFLE(words, x, y, 1, 3, 5, 7);
    } else {
        for (int i = 0; i < 4; i += 2) {
            longs x = *(const longs *)(const void *)from[i];
            longs y = *(const longs *)(const void *)from[i + 1];
            *(longs *)(void *)(SLOT(uint64_t, 0) + lane + i) = SIMT_SHUFFLE(longs, x, y, 0, 2);
            *(longs *)(void *)(SLOT(uint64_t, 1) + lane + i) = SIMT_SHUFFLE(longs, x, y, 1, 3);
        }
    }
}

INLINE void store_block(struct simt_warp *w, const struct simt_inst *in, const struct places *p,
                        enum form form, int lane)
{
    uint8_t *to[4];
    for (int i = 0; i < 4; i++)
        to[i] = place_of(p, lane + i);
    if (form == WORDS_4) {
        words x[4];
        for (int k = 0; k < 4; k++)
            x[k] = *(const words *)(const void *)(SLOT(uint32_t, k) + lane);
        transpose_words(x);
        for (int i = 0; i < 4; i++)
            *(words *)(void *)to[i] = x[i];
    } else if (form == WORDS_2) {
        words x = *(const words *)(const void *)(SLOT(uint32_t, 0) + lane);
        words y = *(const words *)(const void *)(SLOT(uint32_t, 1) + lane);
        longs a = (longs)SIMT_SHUFFLE(words, x, y, 0, 4, 1, 5),
              b = (longs)SIMT_SHUFFLE(words, x, y, 2, 6, 3, 7);
        *(uint64_t *)(void *)to[0] = a[0], *(uint64_t *)(void *)to[1] = a[1];
        *(uint64_t *)(void *)to[2] = b[0], *(uint64_t *)(void *)to[3] = b[1];
    } else {
        for (int i = 0; i < 4; i += 2) {
            longs x = *(const longs *)(const void *)(SLOT(uint64_t, 0) + lane + i);
            longs y = *(const longs *)(const void *)(SLOT(uint64_t, 1) + lane + i);
            *(longs *)(void *)to[i] = SIMT_SHUFFLE(longs, x, y, 0, 2);
            *(longs *)(void *)to[i + 1] = SIMT_SHUFFLE(longs, x, y, 1, 3);
        }
    }
}

/* Whole warps -----------------------------------------------------------------------------------
 */

INLINE uint32_t bytes_of(enum form form)
{
    return form == WORDS_2 ? 8 : 16;
}

INLINE void move_warp(struct simt_warp *w, const struct simt_inst *in, const struct places *p,
                      enum form form, bool is_store)
{
    for (int lane = 0; lane < SIMT_LANES; lane += 4) {
        if (is_store)
            store_block(w, in, p, form, lane);
        else
            load_block(w, in, p, form, lane);
    }
}

/* Lane by lane, with all checks. */
INLINE const struct simt_inst *move_lanes(struct simt_warp *w, const struct simt_inst *in,
                                          enum form form, bool is_store)
{
    const uint32_t size = form == LONGS_2 ? 8 : 4, count = form == WORDS_4 ? 4 : 2;
    uint8_t *hosts[SIMT_LANES];
    if (!simt_access_hosts(w, in, bytes_of(form), is_store, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        _Alignas(16) uint8_t whole[16];
        if (!is_store)
            access_move(whole, hosts[lane], size * count);
        for (uint32_t k = 0; k < count; k++) {
            uint8_t *reg = w->regs + in->list[k] + lane * size, *part = whole + k * size;
            memcpy(is_store ? part : reg, is_store ? reg : part, size);
        }
        if (is_store)
            access_move(hosts[lane], whole, size * count);
    }
    return in + 1;
}

INLINE const struct simt_inst *move_global(struct simt_warp *w, const struct simt_inst *in,
                                           enum form form, bool is_store)
{
    const uint64_t *a = SIMT_SLOT(const uint64_t, in->a);
    uint64_t imm = (uint64_t)in->imm, size = bytes_of(form);
    bool neighbours = w->mask == SIMT_ALL &&
                      access_pattern_64(a, size, SIMT_LANES) == ACCESS_NEIGHBOURS &&
                      access_range(w, a[0] + imm, size * SIMT_LANES, size);
    if (!neighbours && (w->mask != SIMT_ALL || !access_all(w, a, imm, size)))
        return NULL;
    const struct places p = {.base = (uint8_t *)(uintptr_t)(SIMT_BACKING + imm), .wide = a};
    move_warp(w, in, &p, form, is_store);
    return in + 1;
}

INLINE const struct simt_inst *move_shared(struct simt_warp *w, const struct simt_inst *in,
                                           enum form form, bool is_store, bool wide)
{
    uint32_t narrowed[SIMT_LANES];
    const uint32_t *a = wide ? narrowed : SIMT_SLOT(const uint32_t, in->a);
    if (w->mask != SIMT_ALL ||
        (wide && !access_narrow(SIMT_SLOT(const uint64_t, in->a), (uint64_t)in->imm, narrowed)) ||
        !access_inside(w, a, access_own(w, in), bytes_of(form), SIMT_LANES))
        return NULL;
    const struct places p = {.base = w->block->shared, .narrow = a, .imm = access_own(w, in)};
    move_warp(w, in, &p, form, is_store);
    return in + 1;
}

/* Bodies ----------------------------------------------------------------------------------------
 */

/* A load that overwrites its own addresses goes lane by lane. */
INLINE bool keeps_addresses(const struct simt_inst *in, enum form form)
{
    bool keeps = in->list[0] != in->a && in->list[1] != in->a;
    return form == WORDS_4 ? keeps && in->list[2] != in->a && in->list[3] != in->a : keeps;
}

#define BODIES(name, form, is_store)                                                               \
    static __attribute__((noinline))                                                               \
    const struct simt_inst *name##_lanes(struct simt_warp *w, const struct simt_inst *in)          \
    {                                                                                              \
        return move_lanes(w, in, form, is_store);                                                  \
    }                                                                                              \
    SIMT_BODY(name##_global)                                                                       \
    {                                                                                              \
        bool may = is_store || keeps_addresses(in, form);                                          \
        const struct simt_inst *next = may ? move_global(w, in, form, is_store) : NULL;            \
        return next ? next : name##_lanes(w, in);                                                  \
    }                                                                                              \
    SIMT_BODY(name##_shared)                                                                       \
    {                                                                                              \
        bool may = is_store || keeps_addresses(in, form);                                          \
        const struct simt_inst *next = may ? move_shared(w, in, form, is_store, false) : NULL;     \
        return next ? next : name##_lanes(w, in);                                                  \
    }                                                                                              \
    SIMT_BODY(name##_shared_wide)                                                                  \
    {                                                                                              \
        const struct simt_inst *next = move_shared(w, in, form, is_store, true);                   \
        return next ? next : name##_lanes(w, in);                                                  \
    }
BODIES(load_words_2, WORDS_2, false)
BODIES(load_words_4, WORDS_4, false)
BODIES(load_longs_2, LONGS_2, false)
BODIES(store_words_2, WORDS_2, true)
BODIES(store_words_4, WORDS_4, true)
BODIES(store_longs_2, LONGS_2, true)

struct row {
    uint8_t bits, count;
    simt_body *global, *shared, *shared_wide, *lanes;
};
#define ROW(name, bits, count)                                                                     \
    {                                                                                              \
        bits, count, name##_global, name##_shared, name##_shared_wide, name##_lanes                \
    }
static const struct row load_rows[] = {ROW(load_words_2, 32, 2), ROW(load_words_4, 32, 4),
                                       ROW(load_longs_2, 64, 2)};
static const struct row store_rows[] = {ROW(store_words_2, 32, 2), ROW(store_words_4, 32, 4),
                                        ROW(store_longs_2, 64, 2)};

static simt_body *find(const struct row rows[3], const struct simt_operands *operands,
                       unsigned vector)
{
    const struct ptx_inst *ptx = operands->ptx;
    unsigned bits = ptx_type_bits(ptx->types[ptx->type_count - 1]);
    bool wide = operands->a_bits == 64;
    for (int i = 0; i < 3; i++) {
        if (rows[i].bits != bits || operands->list_bits != bits ||
            rows[i].count != ptx->operands[vector].item_count)
            continue;
        if (operands->address != SIMT_ADDRESS_REGISTER)
            return rows[i].lanes;
        switch (access_space(ptx)) {
        case PTX_SPACE_SHARED:
            return wide ? rows[i].shared_wide : rows[i].shared;
        case PTX_SPACE_GLOBAL:
        case PTX_SPACE_GENERIC:
            return wide ? rows[i].global : rows[i].lanes;
        default:
            return rows[i].lanes;
        }
    }
    return NULL;
}

simt_body *SIMT_NAME(memory_vector_load)(const struct simt_operands *operands)
{
    return find(load_rows, operands, 0);
}

simt_body *SIMT_NAME(memory_vector_store)(const struct simt_operands *operands)
{
    return find(store_rows, operands, 1);
}
