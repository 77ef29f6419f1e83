/*
 * bulk_reduce.h: what bulk reductions do with each element: one row per operation and type, and
 * the loop over elements. Included by exec_bulk.c alone.
 */
#ifndef LOCKSTEP_SIMT_BULK_REDUCE_H
#define LOCKSTEP_SIMT_BULK_REDUCE_H

#include "simt/num_atomic.h"
#include "simt/tensormap.h"

typedef uint64_t combine(uint64_t x, uint64_t y);

#define COMBINE(name, T, result)                                                                   \
    static uint64_t name(uint64_t xs, uint64_t ys)                                                 \
    {                                                                                              \
        T x = (T)xs, y = (T)ys;                                                                    \
        (void)x;                                                                                   \
        return (uint64_t)(result);                                                                 \
    }
#define COMBINE_SIGNED(name, bits, is_better)                                                      \
    static uint64_t name(uint64_t x, uint64_t y)                                                   \
    {                                                                                              \
        int##bits##_t a = (int##bits##_t)x, b = (int##bits##_t)y;                                  \
        return is_better ? x : y;                                                                  \
    }
COMBINE(add_32, uint32_t, (uint32_t)(x + y))
COMBINE(add_64, uint64_t, x + y)
COMBINE(min_u32, uint32_t, x < y ? x : y)
COMBINE(max_u32, uint32_t, x > y ? x : y)
COMBINE(min_u64, uint64_t, x < y ? x : y)
COMBINE(max_u64, uint64_t, x > y ? x : y)
COMBINE_SIGNED(min_s32, 32, a < b)
COMBINE_SIGNED(max_s32, 32, a > b)
COMBINE_SIGNED(min_s64, 64, a < b)
COMBINE_SIGNED(max_s64, 64, a > b)
COMBINE(inc_32, uint32_t, x >= y ? 0 : x + 1)
COMBINE(dec_32, uint32_t, x == 0 || x > y ? y : x - 1)
COMBINE(and_64, uint64_t, x &y)
COMBINE(or_64, uint64_t, x | y)
COMBINE(xor_64, uint64_t, x ^ y)
COMBINE(add_float, uint32_t, add_f32(x, y, false))
COMBINE(add_float_ftz, uint32_t, add_f32(x, y, true))
COMBINE(add_double, uint64_t, add_f64(x, y))
COMBINE(add_half, uint16_t, num_add_f16(x, y))
COMBINE(min_half, uint16_t, num_min_f16(x, y))
COMBINE(max_half, uint16_t, num_max_f16(x, y))
COMBINE(add_brain, uint16_t, num_add_bf16(x, y))
COMBINE(min_brain, uint16_t, num_min_bf16(x, y))
COMBINE(max_brain, uint16_t, num_max_bf16(x, y))

struct reduction {
    combine *function;
    uint32_t bytes; /* of an element */
};

/* One row per operation and type; PTX has no others. Types by their name in PTX. */
static struct reduction find_reduction(const struct ptx_inst *ptx, enum ptx_type type)
{
    static const struct {
        enum ptx_mod mod;
        enum ptx_type type;
        combine *function;
    } rows[] = {
        {PTX_MOD_ADD, PTX_U32, add_32},     {PTX_MOD_ADD, PTX_S32, add_32},
        {PTX_MOD_ADD, PTX_U64, add_64},     {PTX_MOD_ADD, PTX_F16, add_half},
        {PTX_MOD_ADD, PTX_BF16, add_brain}, {PTX_MOD_ADD, PTX_F32, add_float_ftz},
        {PTX_MOD_ADD, PTX_F64, add_double}, {PTX_MOD_MIN, PTX_U32, min_u32},
        {PTX_MOD_MIN, PTX_S32, min_s32},    {PTX_MOD_MIN, PTX_U64, min_u64},
        {PTX_MOD_MIN, PTX_S64, min_s64},    {PTX_MOD_MIN, PTX_F16, min_half},
        {PTX_MOD_MIN, PTX_BF16, min_brain}, {PTX_MOD_MAX, PTX_U32, max_u32},
        {PTX_MOD_MAX, PTX_S32, max_s32},    {PTX_MOD_MAX, PTX_U64, max_u64},
        {PTX_MOD_MAX, PTX_S64, max_s64},    {PTX_MOD_MAX, PTX_F16, max_half},
        {PTX_MOD_MAX, PTX_BF16, max_brain}, {PTX_MOD_INC, PTX_U32, inc_32},
        {PTX_MOD_DEC, PTX_U32, dec_32},     {PTX_MOD_AND, PTX_B32, and_64},
        {PTX_MOD_AND, PTX_B64, and_64},     {PTX_MOD_OR, PTX_B32, or_64},
        {PTX_MOD_OR, PTX_B64, or_64},       {PTX_MOD_XOR, PTX_B32, xor_64},
        {PTX_MOD_XOR, PTX_B64, xor_64},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (ptx_has(ptx, rows[i].mod) && rows[i].type == type)
            return (struct reduction){rows[i].function, ptx_type_bits(type) / 8};
    return (struct reduction){0};
}

/* The map's type; and, or and xor take numbers as bits, but not signed ones of 64 bits: the
   hardware ends in an illegal instruction (measured on an H200). */
static struct reduction tensor_reduction(const struct ptx_inst *ptx, unsigned type)
{
    static const uint8_t types[TENSORMAP_TYPES] = {
        [TENSORMAP_U32] = PTX_U32,   [TENSORMAP_S32] = PTX_S32,    [TENSORMAP_U64] = PTX_U64,
        [TENSORMAP_S64] = PTX_S64,   [TENSORMAP_F16] = PTX_F16,    [TENSORMAP_F32] = PTX_F32,
        [TENSORMAP_BF16] = PTX_BF16, [TENSORMAP_F32_FTZ] = PTX_F32};
    bool is_logic =
        ptx_has(ptx, PTX_MOD_AND) || ptx_has(ptx, PTX_MOD_OR) || ptx_has(ptx, PTX_MOD_XOR);
    enum ptx_type as = types[type];
    if (is_logic)
        as = as == PTX_U32 || as == PTX_S32 ? PTX_B32 : as == PTX_U64 ? PTX_B64 : PTX_TYPE_NONE;
    struct reduction found = find_reduction(ptx, as);
    if (type == TENSORMAP_F32 && found.function)
        found.function = add_float; /* only the type with FTZ flushes (measured on an H200) */
    return found;
}

#define CHANGE(T)                                                                                  \
    do {                                                                                           \
        T *place = (T *)(void *)(target + at), x = __atomic_load_n(place, __ATOMIC_RELAXED), y;    \
        memcpy(&y, source + at, sizeof(T));                                                        \
        while (!__atomic_compare_exchange_n(place, &x, (T)reduction->function(x, y), false,        \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
    } while (0)

/* Other blocks may be at the same elements. */
static void reduce_bytes(const struct reduction *reduction, uint8_t *target, const uint8_t *source,
                         uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += reduction->bytes) {
        if (reduction->bytes == 2)
            CHANGE(uint16_t);
        else if (reduction->bytes == 4)
            CHANGE(uint32_t);
        else
            CHANGE(uint64_t);
    }
}

#endif
