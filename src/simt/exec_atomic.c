/*
 * exec_atomic.c: atom, red, fences.
 * Blocks run side by side, so memory operations are real atomics of the host; with a single worker
 * plain ones do. Lanes act in ascending order.
 */
#include "simt/access.h"

#include "simt/num_half.h"

#include <math.h>

/* Where the lanes' operands lie; false after a fault. */
static bool targets(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                    uint8_t *hosts[SIMT_LANES])
{
    unsigned bits = in->flags & SIMT_FLAG_ADDRESS_32 ? 32 : 64;
    simt_charge(w, 24);
    return simt_access_scattered(w, in, access_space(in->ptx), bits, size, true, hosts);
}

/* x is what is there, y the operand. Types of one size share exchange by bits. */
#define ATOMIC_LOOP(T, result)                                                                     \
    uint8_t *hosts[SIMT_LANES];                                                                    \
    if (!targets(w, in, sizeof(T), hosts))                                                         \
        return NULL;                                                                               \
    bool single = w->block->launch->single;                                                        \
    const T *ys = SIMT_SLOT(const T, in->b);                                                       \
    T *d = SIMT_SLOT(T, in->d);                                                                    \
    bool gives = in->ptx->op == PTX_OP_ATOM || in->ptx->op == PTX_OP_ATOM_NOFTZ;                   \
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                        \
        int lane = __builtin_ctz(rest);                                                            \
        T *place = (T *)(void *)hosts[lane], x = *place, y = ys[lane];                             \
        if (single)                                                                                \
            *place = (result);                                                                     \
        else                                                                                       \
            while (!__atomic_compare_exchange_n(place, &x, (result), false, __ATOMIC_SEQ_CST,      \
                                                __ATOMIC_SEQ_CST)) {                               \
            }                                                                                      \
        if (gives)                                                                                 \
            d[lane] = x;                                                                           \
    }                                                                                              \
    return in + 1;

#define ATOMIC_BODY(name, T, result)                                                               \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        ATOMIC_LOOP(T, result)                                                                     \
    }

/* The same for what the host has an instruction for. */
#define FETCH_BODY(name, T, fetch, result)                                                         \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!targets(w, in, sizeof(T), hosts))                                                     \
            return NULL;                                                                           \
        bool single = w->block->launch->single, gives = in->ptx->op == PTX_OP_ATOM;                \
        const T *ys = SIMT_SLOT(const T, in->b);                                                   \
        T *d = SIMT_SLOT(T, in->d);                                                                \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            T *place = (T *)(void *)hosts[lane], x = *place, y = ys[lane];                         \
            if (single)                                                                            \
                *place = (result);                                                                 \
            else                                                                                   \
                x = fetch(place, y, __ATOMIC_SEQ_CST);                                             \
            if (gives)                                                                             \
                d[lane] = x;                                                                       \
        }                                                                                          \
        return in + 1;                                                                             \
    }

#define ATOMIC_INTEGERS(bits)                                                                      \
    FETCH_BODY(atomic_exch_##bits, uint##bits##_t, __atomic_exchange_n, y)                         \
    FETCH_BODY(atomic_add_##bits, uint##bits##_t, __atomic_fetch_add, x + y)                       \
    ATOMIC_BODY(atomic_inc_##bits, uint##bits##_t, x >= y ? 0 : x + 1)                             \
    ATOMIC_BODY(atomic_dec_##bits, uint##bits##_t, x == 0 || x > y ? y : x - 1)                    \
    FETCH_BODY(atomic_and_##bits, uint##bits##_t, __atomic_fetch_and, x &y)                        \
    FETCH_BODY(atomic_or_##bits, uint##bits##_t, __atomic_fetch_or, x | y)                         \
    FETCH_BODY(atomic_xor_##bits, uint##bits##_t, __atomic_fetch_xor, x ^ y)                       \
    ATOMIC_BODY(atomic_min_u##bits, uint##bits##_t, x < y ? x : y)                                 \
    ATOMIC_BODY(atomic_max_u##bits, uint##bits##_t, x > y ? x : y)                                 \
    ATOMIC_BODY(atomic_min_s##bits, uint##bits##_t, (int##bits##_t)x < (int##bits##_t)y ? x : y)   \
    ATOMIC_BODY(atomic_max_s##bits, uint##bits##_t, (int##bits##_t)x > (int##bits##_t)y ? x : y)
ATOMIC_INTEGERS(32)
ATOMIC_INTEGERS(64)

/* Floats: the memory's bits are what is compared. */
static inline uint32_t add_f32(uint32_t x, uint32_t y, bool flush)
{
    float a, b, sum;
    uint32_t bits;
    if (flush) {
        x = x & 0x7f800000 ? x : x & 0x80000000;
        y = y & 0x7f800000 ? y : y & 0x80000000;
    }
    memcpy(&a, &x, 4);
    memcpy(&b, &y, 4);
    sum = a + b;
    memcpy(&bits, &sum, 4);
    if (sum != sum)
        return 0x7fffffff;
    return flush && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
}

static inline uint64_t add_f64(uint64_t x, uint64_t y)
{
    double a, b;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    a += b;
    memcpy(&x, &a, 8);
    return x;
}

/* Sums in global memory flush subnormals; sums in shared memory keep them (PTX ISA, atom). */
ATOMIC_BODY(atomic_add_f32_global, uint32_t, add_f32(x, y, true))
ATOMIC_BODY(atomic_add_f32_shared, uint32_t, add_f32(x, y, false))
ATOMIC_BODY(atomic_add_f64, uint64_t, add_f64(x, y))

/* A generic address is one or the other, lane by lane. */
SIMT_BODY(atomic_add_f32_generic)
{
    int lane = __builtin_ctz(w->mask);
    uint64_t address = in->flags & SIMT_FLAG_ADDRESS_32 ? SIMT_SLOT(const uint32_t, in->a)[lane]
                                                        : SIMT_SLOT(const uint64_t, in->a)[lane];
    return address >= SIMT_SHARED_WINDOW ? atomic_add_f32_shared(w, in)
                                         : atomic_add_f32_global(w, in);
}

/* 16-bit floats and pairs, through the scalar helpers. */
#define ATOMIC_HALF(type, F)                                                                       \
    ATOMIC_BODY(atomic_add_##type, uint16_t, num_add_##F(x, y))                                    \
    ATOMIC_BODY(atomic_min_##type, uint16_t, num_min_##F(x, y))                                    \
    ATOMIC_BODY(atomic_max_##type, uint16_t, num_max_##F(x, y))                                    \
    ATOMIC_BODY(atomic_add_##type##x2, uint32_t,                                                   \
                num_add_##F((uint16_t)x, (uint16_t)y) |                                            \
                    (uint32_t)num_add_##F((uint16_t)(x >> 16), (uint16_t)(y >> 16)) << 16)         \
    ATOMIC_BODY(atomic_min_##type##x2, uint32_t,                                                   \
                num_min_##F((uint16_t)x, (uint16_t)y) |                                            \
                    (uint32_t)num_min_##F((uint16_t)(x >> 16), (uint16_t)(y >> 16)) << 16)         \
    ATOMIC_BODY(atomic_max_##type##x2, uint32_t,                                                   \
                num_max_##F((uint16_t)x, (uint16_t)y) |                                            \
                    (uint32_t)num_max_##F((uint16_t)(x >> 16), (uint16_t)(y >> 16)) << 16)

static inline uint16_t num_add_f16(uint16_t x, uint16_t y)
{
    return num_f16_narrow(num_f16_widen(x) + num_f16_widen(y));
}
static inline uint16_t num_add_bf16(uint16_t x, uint16_t y)
{
    return num_bf16_narrow(num_bf16_widen(x) + num_bf16_widen(y));
}

#define PICK(name, to_f32, is_better)                                                              \
    static inline uint16_t name(uint16_t x, uint16_t y)                                            \
    {                                                                                              \
        float a = to_f32(x), b = to_f32(y);                                                        \
        if (a != a)                                                                                \
            return b != b ? 0x7fff : y;                                                            \
        if (b != b)                                                                                \
            return x;                                                                              \
        return is_better ? x : y;                                                                  \
    }
PICK(num_min_f16, num_f16_widen, a < b || (a == b && signbit(a)))
PICK(num_max_f16, num_f16_widen, a > b || (a == b && !signbit(a)))
PICK(num_min_bf16, num_bf16_widen, a < b || (a == b && signbit(a)))
PICK(num_max_bf16, num_bf16_widen, a > b || (a == b && !signbit(a)))
ATOMIC_HALF(f16, f16)
ATOMIC_HALF(bf16, bf16)

/* Compare and swap
 * -------------------------------------------------------------------------------------- */

#define CAS_BODY(bits)                                                                             \
    SIMT_BODY(atomic_cas_##bits)                                                                   \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!targets(w, in, bits / 8, hosts))                                                      \
            return NULL;                                                                           \
        const uint##bits##_t *bs = SIMT_SLOT(const uint##bits##_t, in->b);                         \
        const uint##bits##_t *cs = SIMT_SLOT(const uint##bits##_t, in->c);                         \
        uint##bits##_t *d = SIMT_SLOT(uint##bits##_t, in->d);                                      \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            uint##bits##_t expected = bs[lane];                                                    \
            __atomic_compare_exchange_n((uint##bits##_t *)(void *)hosts[lane], &expected,          \
                                        cs[lane], false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
            d[lane] = expected;                                                                    \
        }                                                                                          \
        return in + 1;                                                                             \
    }
CAS_BODY(16)
CAS_BODY(32)
CAS_BODY(64)

/* 128 bits: one lock serves all of them (no ordinary instruction writes 16 bytes at once and
 * expects to be seen whole by these). */
static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;

SIMT_BODY(atomic_128)
{
    uint8_t *hosts[SIMT_LANES];
    bool compare = in->ptx->op == PTX_OP_ATOM_CAS;
    if (!targets(w, in, 16, hosts))
        return NULL;
    pthread_mutex_lock(&wide_lock);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint8_t old[16], *b = w->regs + in->b + 16 * lane, *c = w->regs + in->c + 16 * lane;
        memcpy(old, hosts[lane], 16);
        if (!compare || memcmp(old, b, 16) == 0)
            memcpy(hosts[lane], compare ? c : b, 16);
        memcpy(w->regs + in->d + 16 * lane, old, 16);
    }
    pthread_mutex_unlock(&wide_lock);
    return in + 1;
}

/* Vectors: each element by itself
 * ------------------------------------------------------------------------- */

static uint32_t combine_element(const struct ptx_inst *ptx, uint32_t x, uint32_t y)
{
    bool min = ptx_has(ptx, PTX_MOD_MIN), max = ptx_has(ptx, PTX_MOD_MAX);
    uint16_t low, high;
    switch ((enum ptx_type)ptx->types[0]) {
    case PTX_F32:
        return add_f32(x, y, true);
    case PTX_BF16:
    case PTX_BF16X2:
        low = min   ? num_min_bf16((uint16_t)x, (uint16_t)y)
              : max ? num_max_bf16((uint16_t)x, (uint16_t)y)
                    : num_add_bf16((uint16_t)x, (uint16_t)y);
        high = min   ? num_min_bf16((uint16_t)(x >> 16), (uint16_t)(y >> 16))
               : max ? num_max_bf16((uint16_t)(x >> 16), (uint16_t)(y >> 16))
                     : num_add_bf16((uint16_t)(x >> 16), (uint16_t)(y >> 16));
        break;
    default:
        low = min   ? num_min_f16((uint16_t)x, (uint16_t)y)
              : max ? num_max_f16((uint16_t)x, (uint16_t)y)
                    : num_add_f16((uint16_t)x, (uint16_t)y);
        high = min   ? num_min_f16((uint16_t)(x >> 16), (uint16_t)(y >> 16))
               : max ? num_max_f16((uint16_t)(x >> 16), (uint16_t)(y >> 16))
                     : num_add_f16((uint16_t)(x >> 16), (uint16_t)(y >> 16));
    }
    return low | (uint32_t)high << 16;
}

SIMT_BODY(atomic_vector)
{
    unsigned bytes = ptx_type_bits(in->ptx->types[0]) / 8, count = in->counts[0];
    bool gives = in->ptx->op == PTX_OP_ATOM_VEC;
    uint8_t *hosts[SIMT_LANES];
    if (!targets(w, in, bytes * count, hosts))
        return NULL;
    pthread_mutex_lock(&wide_lock);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        for (unsigned k = 0; k < count; k++) {
            uint32_t slot = in->list[gives ? count + k : k], x = 0, y = 0, sum;
            memcpy(&x, hosts[lane] + k * bytes, bytes);
            memcpy(&y, w->regs + slot + lane * bytes, bytes);
            sum = combine_element(in->ptx, x, y);
            memcpy(hosts[lane] + k * bytes, &sum, bytes);
            if (gives)
                memcpy(w->regs + in->list[k] + lane * bytes, &x, bytes);
        }
    }
    pthread_mutex_unlock(&wide_lock);
    return in + 1;
}

SIMT_BODY(run_fence)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return in + 1;
}

/* Selection
 * -------------------------------------------------------------------------------------------------
 */

#define BY_WIDTH(operation) (wide ? operation##_64 : operation##_32)

static simt_body *select_integer(const struct ptx_inst *ptx)
{
    enum ptx_type type = ptx->types[0];
    bool wide = ptx_type_bits(type) == 64, is_signed = ptx_type_kind(type) == PTX_KIND_SIGNED;
    if (ptx_has(ptx, PTX_MOD_EXCH))
        return BY_WIDTH(atomic_exch);
    if (ptx_has(ptx, PTX_MOD_ADD))
        return BY_WIDTH(atomic_add);
    if (ptx_has(ptx, PTX_MOD_INC))
        return BY_WIDTH(atomic_inc);
    if (ptx_has(ptx, PTX_MOD_DEC))
        return BY_WIDTH(atomic_dec);
    if (ptx_has(ptx, PTX_MOD_AND))
        return BY_WIDTH(atomic_and);
    if (ptx_has(ptx, PTX_MOD_OR))
        return BY_WIDTH(atomic_or);
    if (ptx_has(ptx, PTX_MOD_XOR))
        return BY_WIDTH(atomic_xor);
    if (ptx_has(ptx, PTX_MOD_MIN))
        return is_signed ? (wide ? atomic_min_s64 : atomic_min_s32)
                         : (wide ? atomic_min_u64 : atomic_min_u32);
    if (ptx_has(ptx, PTX_MOD_MAX))
        return is_signed ? (wide ? atomic_max_s64 : atomic_max_s32)
                         : (wide ? atomic_max_u64 : atomic_max_u32);
    return NULL;
}

static simt_body *select_atom(const struct ptx_inst *ptx)
{
    bool add = ptx_has(ptx, PTX_MOD_ADD), exchange = ptx_has(ptx, PTX_MOD_EXCH);
    switch ((enum ptx_type)ptx->types[0]) {
    case PTX_F32:
        if (!add)
            return exchange ? atomic_exch_32 : NULL;
        switch (access_space(ptx)) {
        case PTX_SPACE_GLOBAL:
            return atomic_add_f32_global;
        case PTX_SPACE_SHARED:
            return atomic_add_f32_shared;
        default:
            return atomic_add_f32_generic;
        }
    case PTX_F64:
        return add ? atomic_add_f64 : exchange ? atomic_exch_64 : NULL;
    case PTX_B128:
        return exchange ? atomic_128 : NULL;
    default:
        return select_integer(ptx);
    }
}

static simt_body *select_noftz(const struct ptx_inst *ptx)
{
    bool min = ptx_has(ptx, PTX_MOD_MIN), max = ptx_has(ptx, PTX_MOD_MAX);
    switch ((enum ptx_type)ptx->types[0]) {
    case PTX_F16:
        return min ? atomic_min_f16 : max ? atomic_max_f16 : atomic_add_f16;
    case PTX_BF16:
        return min ? atomic_min_bf16 : max ? atomic_max_bf16 : atomic_add_bf16;
    case PTX_F16X2:
        return min ? atomic_min_f16x2 : max ? atomic_max_f16x2 : atomic_add_f16x2;
    default:
        return min ? atomic_min_bf16x2 : max ? atomic_max_bf16x2 : atomic_add_bf16x2;
    }
}

static simt_body *select_cas(const struct ptx_inst *ptx)
{
    switch (ptx_type_bits(ptx->types[0])) {
    case 16:
        return atomic_cas_16;
    case 32:
        return atomic_cas_32;
    case 64:
        return atomic_cas_64;
    default:
        return atomic_128;
    }
}

simt_body *SIMT_NAME(atomic_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    switch (ptx->op) {
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return select_atom(ptx);
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_RED_NOFTZ:
        return select_noftz(ptx);
    case PTX_OP_ATOM_CAS:
        return select_cas(ptx);
    case PTX_OP_ATOM_VEC:
    case PTX_OP_RED_VEC:
        return atomic_vector;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_FENCE_PROXY:
    case PTX_OP_FENCE_INIT:
        return run_fence;
    default:
        return NULL;
    }
}
