/*
 * exec_integer_bits.c: counting, finding, extracting and moving bits and bytes, and the dot
 * products of packed bytes.
 * Each formula gives PTX's pseudo code for every input, positions and lengths beyond the width too.
 */
#include "simt/exec.h"

simt_body *SIMT_NAME(integer_bits_select)(const struct simt_operands *operands);

/* Counting and finding ------------------------------------------------------------------------ */

SIMT_MAP1(popc_32, uint32_t, uint32_t, ({
              uint32_t v = x - (x >> 1 & 0x55555555u);
              v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
              ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
          }))
SIMT_MAP1(popc_64, uint32_t, uint64_t, __builtin_popcountll(x))

static inline uint32_t clz_32(uint32_t x)
{
    return x ? (uint32_t)__builtin_clz(x) : 32;
}
static inline uint32_t clz_64(uint64_t x)
{
    return x ? (uint32_t)__builtin_clzll(x) : 64;
}
SIMT_MAP1(count_32, uint32_t, uint32_t, clz_32(x))
SIMT_MAP1(count_64, uint32_t, uint64_t, clz_64(x))

/* The position of the highest bit that is not a sign bit; all ones if there is none. */
#define BFIND(t, C, U, bits, without_sign)                                                         \
    SIMT_MAP1(bfind_##t, uint32_t, C, (bits - 1) - clz_##bits((U)(without_sign)))                  \
    SIMT_MAP1(bfind_shift_##t, uint32_t, C, ({                                                     \
                  uint32_t zeros = clz_##bits((U)(without_sign));                                  \
                  zeros == bits ? UINT32_MAX : zeros;                                              \
              }))
BFIND(u32, uint32_t, uint32_t, 32, x)
BFIND(s32, int32_t, uint32_t, 32, x < 0 ? ~x : x)
BFIND(u64, uint64_t, uint64_t, 64, x)
BFIND(s64, int64_t, uint64_t, 64, x < 0 ? ~x : x)

static inline uint32_t find_nth_set(uint32_t bits, uint32_t base, int32_t offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return bits >> base & 1 ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    uint32_t left = (offset > 0 ? (uint32_t)offset : 0 - (uint32_t)offset) - 1;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (bits >> at & 1 && left-- == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}
SIMT_MAP3(fns, uint32_t, uint32_t, uint32_t, int32_t, find_nth_set(x, y, z))

static inline uint32_t reverse_32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
SIMT_MAP1(brev_32, uint32_t, uint32_t, reverse_32(x))
SIMT_MAP1(brev_64, uint64_t, uint64_t,
          (uint64_t)reverse_32((uint32_t)x) << 32 | reverse_32((uint32_t)(x >> 32)))

/* Fields -------------------------------------------------------------------------------------- */

/* Positions and lengths count modulo 256, as PTX says, for 32-bit words; for 64-bit ones GPUs read
 * all of their bits. A signed field is shifted up until its top bit is the word's, and back down; a
 * field that sticks out takes its sign from the word's top bit. */
#define FIELD_OPERAND(x, bits) (bits == 32 ? (x)&255 : (x))
#define BFE(bits)                                                                                  \
    static inline uint##bits##_t low_ones_##bits(uint32_t count)                                   \
    {                                                                                              \
        return count >= bits ? UINT##bits##_MAX : ((uint##bits##_t)1 << (count & (bits - 1))) - 1; \
    }                                                                                              \
    SIMT_MAP3(bfe_u##bits, uint##bits##_t, uint##bits##_t, uint32_t, uint32_t, ({                  \
                  uint32_t position = FIELD_OPERAND(y, bits);                                      \
                  uint##bits##_t field = position >= bits ? 0 : x >> (position & (bits - 1));      \
                  field &low_ones_##bits(FIELD_OPERAND(z, bits));                                  \
              }))                                                                                  \
    SIMT_MAP3(bfe_s##bits, uint##bits##_t, int##bits##_t, uint32_t, uint32_t, ({                   \
                  uint32_t position = FIELD_OPERAND(y, bits), length = FIELD_OPERAND(z, bits);     \
                  int##bits##_t field = x >> (position >= bits ? bits - 1 : position);             \
                  uint32_t up = length >= bits ? 0 : bits - length;                                \
                  length == 0 ? 0                                                                  \
                              : (int##bits##_t)((uint##bits##_t)field << (up & (bits - 1))) >>     \
                                    (up & (bits - 1));                                             \
              }))                                                                                  \
    SIMT_BODY(bfi_##bits)                                                                          \
    {                                                                                              \
        uint##bits##_t *d = SIMT_SLOT(uint##bits##_t, in->d);                                      \
        const uint##bits##_t *xs = SIMT_SLOT(const uint##bits##_t, in->a);                         \
        const uint##bits##_t *ys = SIMT_SLOT(const uint##bits##_t, in->b);                         \
        const uint32_t *positions = SIMT_SLOT(const uint32_t, in->c);                              \
        const uint32_t *lengths = SIMT_SLOT(const uint32_t, in->e);                                \
        SIMT_STORE_LANES(uint##bits##_t, ({                                                        \
                             uint32_t position = FIELD_OPERAND(positions[i], bits);                \
                             uint##bits##_t field =                                                \
                                 low_ones_##bits(FIELD_OPERAND(lengths[i], bits));                 \
                             uint##bits##_t mask =                                                 \
                                 position >= bits ? 0 : field << (position & (bits - 1));          \
                             (ys[i] & ~mask) | (xs[i] << (position & (bits - 1)) & mask);          \
                         }))                                                                       \
    }
BFE(32)
BFE(64)

static inline uint32_t ones_from(uint32_t position, uint32_t count)
{
    return low_ones_32(count) << position; /* position below 32 */
}
SIMT_MAP2(bmsk_clamp, uint32_t, uint32_t, uint32_t, x >= 32 ? 0 : ones_from(x & 31, y))
SIMT_MAP2(bmsk_wrap, uint32_t, uint32_t, uint32_t, ones_from(x & 31, y & 31))

SIMT_MAP2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, x &low_ones_32(y))
SIMT_MAP2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, x &low_ones_32(y & 31))
static inline uint32_t extend_sign(uint32_t x, uint32_t count) /* count below 32 */
{
    return count == 0 ? 0 : (uint32_t)((int32_t)(x << ((32 - count) & 31)) >> ((32 - count) & 31));
}
SIMT_MAP2(szext_clamp_s32, uint32_t, uint32_t, uint32_t, y >= 32 ? x : extend_sign(x, y & 31))
SIMT_MAP2(szext_wrap_s32, uint32_t, uint32_t, uint32_t, extend_sign(x, y & 31))

/* Funnel shifts and bytes ---------------------------------------------------------------------- */

#define PAIR_OF(x, y) ((uint64_t)(y) << 32 | (x))
/* Of y:x, in 32 bits, which hosts shift lane by lane twice as fast as 64: hashes are full of
 * rotations. n below 32; a count of 0 takes nothing of the other word. */
static inline uint32_t high_shifted(uint32_t x, uint32_t y, uint32_t n)
{
    return y << n | x >> 1 >> (31 - n);
}
static inline uint32_t low_shifted(uint32_t x, uint32_t y, uint32_t n)
{
    return x >> n | y << 1 << (31 - n);
}
SIMT_MAP3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
          z >= 32 ? x : high_shifted(x, y, z & 31))
SIMT_MAP3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, high_shifted(x, y, z & 31))
SIMT_MAP3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
          z >= 32 ? y : low_shifted(x, y, z & 31))
SIMT_MAP3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, low_shifted(x, y, z & 31))

/* One byte of the pair by a nibble; bit 3 asks for eight copies of the byte's sign. */
static inline uint32_t pick_byte(uint64_t pair, uint32_t nibble)
{
    uint32_t byte = (uint32_t)(pair >> (8 * (nibble & 7))) & 255;
    uint32_t sign = (0u - (byte >> 7)) & 255;
    return nibble & 8 ? sign : byte;
}
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t control)
{
    uint64_t pair = PAIR_OF(x, y);
    return pick_byte(pair, control) | pick_byte(pair, control >> 4) << 8 |
           pick_byte(pair, control >> 8) << 16 | pick_byte(pair, control >> 12) << 24;
}
SIMT_MAP3(prmt, uint32_t, uint32_t, uint32_t, uint32_t, permute(x, y, z))

/* The control is a constant without sign bits: what each byte comes from is the same in all lanes.
 */
SIMT_BODY(prmt_uniform)
{
    const uint32_t *xs = SIMT_SLOT(const uint32_t, in->a);
    const uint32_t *ys = SIMT_SLOT(const uint32_t, in->b);
    uint32_t control = *SIMT_SLOT(const uint32_t, in->c);
    uint32_t from_x[4], from_y[4], shift[4];
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    for (int k = 0; k < 4; k++) {
        uint32_t nibble = control >> (4 * k) & 15;
        shift[k] = 8 * (nibble & 3);
        from_x[k] = nibble & 4 ? 0 : 255u << shift[k];
        from_y[k] = nibble & 4 ? 255u << shift[k] : 0;
    }
#define BYTE_OF(k) (((xs[i] & from_x[k]) | (ys[i] & from_y[k])) >> shift[k] << 8 * (k))
    SIMT_STORE_LANES(uint32_t, BYTE_OF(0) | BYTE_OF(1) | BYTE_OF(2) | BYTE_OF(3))
}

/* The named modes: the control that each value of c's low two bits stands for. */
#define PRMT_MODE(name, c0, c1, c2, c3)                                                            \
    SIMT_MAP3(prmt_##name, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
              permute(x, y, (z & 2) ? (z & 1 ? c3 : c2) : (z & 1 ? c1 : c0)))
PRMT_MODE(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PRMT_MODE(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PRMT_MODE(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PRMT_MODE(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PRMT_MODE(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PRMT_MODE(rc16, 0x1010, 0x3232, 0x1010, 0x3232)

/* Dot products --------------------------------------------------------------------------------- */

#define byte_u32(x, k) ((int32_t)(uint8_t)((x) >> (8 * (k))))
#define byte_s32(x, k) ((int32_t)(int8_t)((x) >> (8 * (k))))
#define half_u32(x, k) ((int32_t)(uint16_t)((x) >> (16 * (k))))
#define half_s32(x, k) ((int32_t)(int16_t)((x) >> (16 * (k))))
#define DOT(t1, t2)                                                                                \
    SIMT_MAP3(                                                                                     \
        dp4a_##t1##_##t2, uint32_t, uint32_t, uint32_t, uint32_t,                                  \
        z + (uint32_t)(byte_##t1(x, 0) * byte_##t2(y, 0) + byte_##t1(x, 1) * byte_##t2(y, 1) +     \
                       byte_##t1(x, 2) * byte_##t2(y, 2) + byte_##t1(x, 3) * byte_##t2(y, 3)))     \
    SIMT_MAP3(                                                                                     \
        dp2a_lo_##t1##_##t2, uint32_t, uint32_t, uint32_t, uint32_t,                               \
        z + (uint32_t)(half_##t1(x, 0) * byte_##t2(y, 0) + half_##t1(x, 1) * byte_##t2(y, 1)))     \
    SIMT_MAP3(                                                                                     \
        dp2a_hi_##t1##_##t2, uint32_t, uint32_t, uint32_t, uint32_t,                               \
        z + (uint32_t)(half_##t1(x, 0) * byte_##t2(y, 2) + half_##t1(x, 1) * byte_##t2(y, 3)))
DOT(u32, u32)
DOT(u32, s32)
DOT(s32, u32)
DOT(s32, s32)

/* Choice --------------------------------------------------------------------------------------- */

static simt_body *select_prmt(const struct ptx_inst *ptx)
{
    static const struct {
        enum ptx_mod mod;
        simt_body *body;
    } modes[] = {{PTX_MOD_F4E, prmt_f4e}, {PTX_MOD_B4E, prmt_b4e}, {PTX_MOD_RC8, prmt_rc8},
                 {PTX_MOD_ECL, prmt_ecl}, {PTX_MOD_ECR, prmt_ecr}, {PTX_MOD_RC16, prmt_rc16}};
    for (unsigned k = 0; k < sizeof(modes) / sizeof(modes[0]); k++)
        if (ptx_has(ptx, modes[k].mod))
            return modes[k].body;
    const struct ptx_operand *control = &ptx->operands[3];
    return control->kind == PTX_OPERAND_IMM && !(control->imm & 0x8888) ? prmt_uniform : prmt;
}

#define BY_SIGNS(name)                                                                             \
    (type == PTX_U32 ? (ptx->types[1] == PTX_U32 ? name##_u32_u32 : name##_u32_s32)                \
                     : (ptx->types[1] == PTX_U32 ? name##_s32_u32 : name##_s32_s32))
#define BY_TYPE(name)                                                                              \
    (type == PTX_U32   ? name##_u32                                                                \
     : type == PTX_S32 ? name##_s32                                                                \
     : type == PTX_U64 ? name##_u64                                                                \
                       : name##_s64)

simt_body *SIMT_NAME(integer_bits_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    bool wide = ptx_type_bits(type) == 64;
    bool wrap = ptx_has(ptx, PTX_MOD_WRAP);

    switch (ptx->op) {
    case PTX_OP_POPC:
        return wide ? popc_64 : popc_32;
    case PTX_OP_CLZ:
        return wide ? count_64 : count_32;
    case PTX_OP_BFIND:
        return ptx_has(ptx, PTX_MOD_SHIFTAMT) ? BY_TYPE(bfind_shift) : BY_TYPE(bfind);
    case PTX_OP_FNS:
        return fns;
    case PTX_OP_BREV:
        return wide ? brev_64 : brev_32;
    case PTX_OP_BFE:
        return BY_TYPE(bfe);
    case PTX_OP_BFI:
        return wide ? bfi_64 : bfi_32;
    case PTX_OP_BMSK:
        return wrap ? bmsk_wrap : bmsk_clamp;
    case PTX_OP_SZEXT:
        if (type == PTX_U32)
            return wrap ? szext_wrap_u32 : szext_clamp_u32;
        return wrap ? szext_wrap_s32 : szext_clamp_s32;
    case PTX_OP_SHF:
        if (ptx_has(ptx, PTX_MOD_L))
            return wrap ? shf_l_wrap : shf_l_clamp;
        return wrap ? shf_r_wrap : shf_r_clamp;
    case PTX_OP_PRMT:
        return select_prmt(ptx);
    case PTX_OP_DP4A:
        return BY_SIGNS(dp4a);
    case PTX_OP_DP2A:
        return ptx_has(ptx, PTX_MOD_HI) ? BY_SIGNS(dp2a_hi) : BY_SIGNS(dp2a_lo);
    default:
        return NULL;
    }
}
