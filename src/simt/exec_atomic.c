/*
 * exec_atomic.c: atom, red, fences.
 * Lanes act in ascending order. An operand that nobody else can touch meanwhile takes plain loads
 * and stores; every other takes the host's atomics: blocks run side by side, and the program's own
 * threads work on managed and pinned memory while a kernel does.
 */
#include "simt/access.h"

#include "simt/num_atomic.h"

static inline bool gives_nothing(const struct simt_inst *in)
{
    enum ptx_op op = in->ptx->op;
    return op == PTX_OP_RED || op == PTX_OP_RED_NOFTZ || op == PTX_OP_RED_VEC;
}

/* Where the lanes' operands lie; false after a fault. */
static bool targets(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                    uint8_t *hosts[SIMT_LANES])
{
    unsigned bits = in->flags & SIMT_FLAG_ADDRESS_32 ? 32 : 64;
    simt_charge(w, 24);
    simt_state(w)->blind_ops += gives_nothing(in);
    return simt_access_scattered(w, in, access_space(in->ptx), bits, size, true, hosts);
}

static inline bool in_shared(const struct simt_warp *w, const void *place)
{
    return (uintptr_t)place - (uintptr_t)w->block->shared < w->block->shared_end;
}

/* May device memory be changed with plain instructions? With one worker, unless the program says
 * that the host may change it too, or another process has it as well. */
static inline bool works_alone(const struct simt_warp *w, const struct simt_inst *in)
{
    return w->block->launch->single && !w->block->launch->machine->memory.is_shared &&
           !ptx_has(in->ptx, PTX_MOD_SYS);
}

/* Is the place this worker's alone? A block's shared memory is. Device memory is while one worker
 * runs: of the host's side only copies and fills reach it, and they store whole values without
 * reading, so a plain operation that leaves the value alone must not write it (PLAIN_STORE).
 * Host-visible memory never is: the other half of the arena, and registered memory. */
static inline bool is_private(const struct simt_warp *w, const void *place, bool alone)
{
    return in_shared(w, place) ||
           (alone && (uintptr_t)place - (w->arena + SIMT_BACKING) < SIMT_ARENA_HALF);
}

/* A kernel that polls with atomicAdd(flag, 0) must not undo a copy's store of the flag. */
#define PLAIN_STORE(place, x, value)                                                               \
    do {                                                                                           \
        if ((value) != (x))                                                                        \
            *(place) = (value);                                                                    \
    } while (0)

static inline bool gives_old(const struct simt_inst *in)
{
    return in->ptx->op == PTX_OP_ATOM || in->ptx->op == PTX_OP_ATOM_NOFTZ;
}

/* One lane: x becomes what is there, y is the operand. A value that another thread changes in
 * between is read again. Types of one size share exchange by bits. */
#define ATOMIC_CHANGE(T, place, result, is_plain)                                                  \
    do {                                                                                           \
        if (is_plain) {                                                                            \
            x = *(place);                                                                          \
            T changed = (result);                                                                  \
            PLAIN_STORE(place, x, changed);                                                        \
        } else {                                                                                   \
            x = __atomic_load_n(place, __ATOMIC_RELAXED);                                          \
            while (!__atomic_compare_exchange_n(place, &x, (result), false, __ATOMIC_SEQ_CST,      \
                                                __ATOMIC_SEQ_CST)) {                               \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* contended: sets x to what was there, and changes it in one step. The block's own memory, the
 * commonest case, asks nothing for each lane. */
#define ATOMIC_LANES(name, T, result, contended)                                                   \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!targets(w, in, sizeof(T), hosts))                                                     \
            return NULL;                                                                           \
        bool own = access_space(in->ptx) == PTX_SPACE_SHARED;                                      \
        bool alone = works_alone(w, in), gives = gives_old(in);                                    \
        const T *ys = SIMT_SLOT(const T, in->b);                                                   \
        T *d = SIMT_SLOT(T, in->d);                                                                \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            T *place = (T *)(void *)hosts[lane], x, y = ys[lane];                                  \
            if (own) {                                                                             \
                x = *place;                                                                        \
                *place = (T)(result);                                                              \
            } else if (is_private(w, place, alone)) {                                              \
                x = *place;                                                                        \
                PLAIN_STORE(place, x, (T)(result));                                                \
            } else {                                                                               \
                contended;                                                                         \
            }                                                                                      \
            if (gives)                                                                             \
                d[lane] = x;                                                                       \
        }                                                                                          \
        return in + 1;                                                                             \
    }
#define ATOMIC_BODY(name, T, result)                                                               \
    ATOMIC_LANES(name, T, result, ATOMIC_CHANGE(T, place, result, false))
/* What the host has an instruction for. */
#define FETCH_BODY(name, T, fetch, result)                                                         \
    ATOMIC_LANES(name, T, result, x = fetch(place, y, __ATOMIC_SEQ_CST))

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

/* Sums in global memory flush subnormals; sums in shared memory keep them (PTX ISA, atom). A
 * generic address is one or the other, lane by lane. */
ATOMIC_BODY(atomic_add_f32, uint32_t, add_f32(x, y, !in_shared(w, place)))
ATOMIC_BODY(atomic_add_f64, uint64_t, add_f64(x, y))

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

/* 128 bits. Where the host has no such instruction one lock serves all of them, and the host's own
 * threads can still interfere. */
typedef unsigned __int128 wide_word __attribute__((may_alias));

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
static inline wide_word swap_wide(wide_word *place, wide_word expected, wide_word desired)
{
    return __sync_val_compare_and_swap(place, expected, desired);
}
#else
static inline wide_word swap_wide(wide_word *place, wide_word expected, wide_word desired)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    wide_word found = *place;
    if (found == expected)
        *place = desired;
    pthread_mutex_unlock(&lock);
    return found;
}
#endif

SIMT_BODY(atomic_128)
{
    uint8_t *hosts[SIMT_LANES];
    bool compare = in->ptx->op == PTX_OP_ATOM_CAS;
    if (!targets(w, in, 16, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        wide_word *place = (wide_word *)(void *)hosts[lane], b, c, found, expected;
        memcpy(&b, w->regs + in->b + 16 * lane, 16);
        memcpy(&c, w->regs + (compare ? in->c : in->b) + 16 * lane, 16);
        found = compare ? b : 0;
        do {
            expected = found;
            found = swap_wide(place, expected, c);
        } while (!compare && found != expected);
        memcpy(w->regs + in->d + 16 * lane, &found, 16);
    }
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

#define CHANGE_ELEMENT(T)                                                                          \
    do {                                                                                           \
        T *place = (T *)(void *)at, x, y;                                                          \
        memcpy(&y, operand, sizeof(T));                                                            \
        ATOMIC_CHANGE(T, place, (T)combine_element(in->ptx, x, y), is_plain);                      \
        old = x;                                                                                   \
    } while (0)

SIMT_BODY(atomic_vector)
{
    unsigned bytes = ptx_type_bits(in->ptx->types[0]) / 8, count = in->counts[0];
    bool gives = in->ptx->op == PTX_OP_ATOM_VEC, alone = works_alone(w, in);
    uint8_t *hosts[SIMT_LANES];
    if (!targets(w, in, bytes * count, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        bool is_plain = is_private(w, hosts[lane], alone);
        for (unsigned k = 0; k < count; k++) {
            uint8_t *at = hosts[lane] + k * bytes;
            const uint8_t *operand =
                w->regs + in->list[gives ? count + k : k] + (size_t)lane * bytes;
            uint32_t old;
            if (bytes == 2)
                CHANGE_ELEMENT(uint16_t);
            else
                CHANGE_ELEMENT(uint32_t);
            if (gives)
                memcpy(w->regs + in->list[k] + (size_t)lane * bytes, &old, bytes);
        }
    }
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
        return add ? atomic_add_f32 : exchange ? atomic_exch_32 : NULL;
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
    case PTX_OP_MEMBAR_PROXY:
    case PTX_OP_FENCE:
    case PTX_OP_FENCE_PROXY:
    case PTX_OP_FENCE_INIT:
    case PTX_OP_FENCE_RESTRICT:
    case PTX_OP_FENCE_PROXY_RESTRICT:
        return run_fence;
    default:
        return NULL;
    }
}
