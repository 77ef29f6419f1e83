/*
 * exec_memory.c: loads and stores.
 * One body per (space, address width, memory type, register width), made by two macros; vectors and
 * rare forms share slower bodies. Cache operators and hints change nothing that a program can see.
 */
#include "simt/access.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Loads of one element
 * ------------------------------------------------------------------------------- */

/* The lanes' values lie at hosts[]; D is the register's type, M the memory's. */
#define LOAD_SCATTERED(D, M, space, bits)                                                          \
    uint8_t *hosts[SIMT_LANES];                                                                    \
    if (!simt_access_scattered(w, in, space, bits, sizeof(M), false, hosts))                       \
        return NULL;                                                                               \
    D *d = SIMT_SLOT(D, in->d);                                                                    \
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                        \
        int lane = __builtin_ctz(rest);                                                            \
        M value;                                                                                   \
        memcpy(&value, hosts[lane], sizeof(M));                                                    \
        d[lane] = (D)value;                                                                        \
    }                                                                                              \
    return in + 1;

#define LOAD_GLOBAL(name, D, M, space)                                                             \
    static __attribute__((noinline))                                                               \
    const struct simt_inst *name##_scattered(struct simt_warp *w, const struct simt_inst *in){     \
        LOAD_SCATTERED(D, M, space, 64)} SIMT_BODY(name)                                           \
    {                                                                                              \
        const uint64_t *a = SIMT_SLOT(const uint64_t, in->a);                                      \
        if (w->mask != SIMT_ALL)                                                                   \
            return name##_scattered(w, in);                                                        \
        enum access_pattern pattern = access_pattern_64(a, sizeof(M));                             \
        uint64_t bytes = pattern == ACCESS_ONE ? sizeof(M) : SIMT_LANES * sizeof(M);               \
        const uint8_t *host = pattern == ACCESS_SCATTERED                                          \
                                  ? NULL                                                           \
                                  : access_range(w, a[0] + (uint64_t)in->imm, bytes, sizeof(M));   \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        if (!host) {                                                                               \
            if (pattern != ACCESS_SCATTERED ||                                                     \
                !access_stretch(w, a, (uint64_t)in->imm, sizeof(M)))                               \
                return name##_scattered(w, in);                                                    \
            D values[SIMT_LANES]; /* d may be where the addresses are */                           \
            uint64_t backing = (uint64_t)in->imm + SIMT_BACKING;                                   \
            for (int i = 0; i < SIMT_LANES; i++)                                                   \
                values[i] = (D) * (const M *)(uintptr_t)(a[i] + backing);                          \
            memcpy(d, values, sizeof(values));                                                     \
            return in + 1;                                                                         \
        }                                                                                          \
        const M *from = (const M *)(const void *)host;                                             \
        if (pattern == ACCESS_ONE) {                                                               \
            D value = (D)*from;                                                                    \
            SIMT_EACH_LANE d[i] = value;                                                           \
        } else {                                                                                   \
            SIMT_EACH_LANE d[i] = (D)from[i];                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }

/* Gathered loads from a base that all addresses were checked against. */
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

#define GATHER(values, D, M, base, a, imm)                                                         \
    if (sizeof(M) == 4 && sizeof(D) == 4) {                                                        \
        gather_words(values, base, a, imm);                                                        \
    } else {                                                                                       \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            values[i] = (D) * (const M *)(const void *)(base + (uint32_t)(a[i] + imm));            \
    }

/* Shared memory: the largest address is found for all lanes at once. */
#define LOAD_SHARED(name, D, M)                                                                    \
    static __attribute__((noinline))                                                               \
    const struct simt_inst *name##_scattered(struct simt_warp *w, const struct simt_inst *in){     \
        LOAD_SCATTERED(D, M, PTX_SPACE_SHARED, 32)} SIMT_BODY(name)                                \
    {                                                                                              \
        const uint32_t *a = SIMT_SLOT(const uint32_t, in->a);                                      \
        uint32_t imm = (uint32_t)in->imm, most = 0, low = 0;                                       \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            uint32_t address = a[i] + imm;                                                         \
            most = address > most ? address : most;                                                \
            low |= address;                                                                        \
        }                                                                                          \
        if (w->mask != SIMT_ALL || low & (sizeof(M) - 1) ||                                        \
            (uint64_t)most + sizeof(M) > w->block->shared_bytes)                                   \
            return name##_scattered(w, in);                                                        \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        const uint8_t *shared = w->block->shared;                                                  \
        enum access_pattern pattern = access_pattern_32(a, sizeof(M));                             \
        if (pattern == ACCESS_ONE) {                                                               \
            D value = (D) * (const M *)(const void *)(shared + (uint32_t)(a[0] + imm));            \
            SIMT_EACH_LANE d[i] = value;                                                           \
        } else if (pattern == ACCESS_NEIGHBOURS) {                                                 \
            const M *from = (const M *)(const void *)(shared + (uint32_t)(a[0] + imm));            \
            SIMT_EACH_LANE d[i] = (D)from[i];                                                      \
        } else {                                                                                   \
            D values[SIMT_LANES];                                                                  \
            GATHER(values, D, M, shared, a, imm)                                                   \
            memcpy(d, values, sizeof(values));                                                     \
        }                                                                                          \
        return in + 1;                                                                             \
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

#define STORE_SCATTERED(B, M, space, bits)                                                         \
    uint8_t *hosts[SIMT_LANES];                                                                    \
    if (!simt_access_scattered(w, in, space, bits, sizeof(M), true, hosts))                        \
        return NULL;                                                                               \
    const B *b = SIMT_SLOT(const B, in->b);                                                        \
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                        \
        int lane = __builtin_ctz(rest);                                                            \
        M value = (M)b[lane];                                                                      \
        memcpy(hosts[lane], &value, sizeof(M));                                                    \
    }                                                                                              \
    return in + 1;

#define STORE_GLOBAL(name, B, M, space)                                                            \
    static __attribute__((noinline))                                                               \
    const struct simt_inst *name##_scattered(struct simt_warp *w, const struct simt_inst *in){     \
        STORE_SCATTERED(B, M, space, 64)} SIMT_BODY(name)                                          \
    {                                                                                              \
        const uint64_t *a = SIMT_SLOT(const uint64_t, in->a);                                      \
        if (w->mask != SIMT_ALL || access_pattern_64(a, sizeof(M)) != ACCESS_NEIGHBOURS)           \
            return name##_scattered(w, in);                                                        \
        uint8_t *host =                                                                            \
            access_range(w, a[0] + (uint64_t)in->imm, SIMT_LANES * sizeof(M), sizeof(M));          \
        if (!host)                                                                                 \
            return name##_scattered(w, in);                                                        \
        const B *b = SIMT_SLOT(const B, in->b);                                                    \
        M *to = (M *)(void *)host;                                                                 \
        SIMT_EACH_LANE to[i] = (M)b[i];                                                            \
        return in + 1;                                                                             \
    }

#define STORE_SHARED(name, B, M)                                                                   \
    static __attribute__((noinline))                                                               \
    const struct simt_inst *name##_scattered(struct simt_warp *w, const struct simt_inst *in){     \
        STORE_SCATTERED(B, M, PTX_SPACE_SHARED, 32)} SIMT_BODY(name)                               \
    {                                                                                              \
        const uint32_t *a = SIMT_SLOT(const uint32_t, in->a);                                      \
        uint32_t imm = (uint32_t)in->imm, most = 0, low = 0;                                       \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            uint32_t address = a[i] + imm;                                                         \
            most = address > most ? address : most;                                                \
            low |= address;                                                                        \
        }                                                                                          \
        if (w->mask != SIMT_ALL || low & (sizeof(M) - 1) ||                                        \
            (uint64_t)most + sizeof(M) > w->block->shared_bytes)                                   \
            return name##_scattered(w, in);                                                        \
        const B *b = SIMT_SLOT(const B, in->b);                                                    \
        uint8_t *shared = w->block->shared;                                                        \
        if (access_pattern_32(a, sizeof(M)) == ACCESS_NEIGHBOURS) {                                \
            M *to = (M *)(void *)(shared + (uint32_t)(a[0] + imm));                                \
            SIMT_EACH_LANE to[i] = (M)b[i];                                                        \
        } else {                                                                                   \
            for (int i = 0; i < SIMT_LANES; i++)                                                   \
                *(M *)(void *)(shared + (uint32_t)(a[i] + imm)) = (M)b[i];                         \
        }                                                                                          \
        return in + 1;                                                                             \
    }

/* The common widths, fast in every space. A signed memory type widens with its sign; registers are
 * 16, 32 or 64 bits. */
#define FAST_LOADS(suffix, D, M)                                                                   \
    LOAD_GLOBAL(load_global_##suffix, D, M, PTX_SPACE_GLOBAL)                                      \
    LOAD_GLOBAL(load_generic_##suffix, D, M, PTX_SPACE_GENERIC)                                    \
    LOAD_SHARED(load_shared_##suffix, D, M)                                                        \
    LOAD_PARAM(load_param_##suffix, D, M)
FAST_LOADS(u8_16, uint16_t, uint8_t)
FAST_LOADS(s8_16, int16_t, int8_t)
FAST_LOADS(u8_32, uint32_t, uint8_t)
FAST_LOADS(s8_32, int32_t, int8_t)
FAST_LOADS(u16_16, uint16_t, uint16_t)
FAST_LOADS(u16_32, uint32_t, uint16_t)
FAST_LOADS(s16_32, int32_t, int16_t)
FAST_LOADS(u32_32, uint32_t, uint32_t)
FAST_LOADS(u32_64, uint64_t, uint32_t)
FAST_LOADS(s32_64, int64_t, int32_t)
FAST_LOADS(u64_64, uint64_t, uint64_t)

#define FAST_STORES(suffix, B, M)                                                                  \
    STORE_GLOBAL(store_global_##suffix, B, M, PTX_SPACE_GLOBAL)                                    \
    STORE_GLOBAL(store_generic_##suffix, B, M, PTX_SPACE_GENERIC)                                  \
    STORE_SHARED(store_shared_##suffix, B, M)
FAST_STORES(16_8, uint16_t, uint8_t)
FAST_STORES(32_8, uint32_t, uint8_t)
FAST_STORES(16_16, uint16_t, uint16_t)
FAST_STORES(32_16, uint32_t, uint16_t)
FAST_STORES(32_32, uint32_t, uint32_t)
FAST_STORES(64_32, uint64_t, uint32_t)
FAST_STORES(64_64, uint64_t, uint64_t)

/* Everything else: vectors, local memory, frames, odd widths
 * -------------------------------------------- */

struct shape {
    uint32_t bytes; /* of an element in memory */
    uint32_t count; /* elements */
    uint32_t reg_bytes;
    bool is_signed;
};

static struct shape shape_of(const struct simt_inst *in)
{
    enum ptx_type type = in->ptx->types[in->ptx->type_count - 1];
    struct shape shape = {ptx_type_bits(type) / 8, in->counts[0] ? in->counts[0] : 1,
                          in->flags >> SIMT_FLAG_BYTES_SHIFT,
                          ptx_type_kind(type) == PTX_KIND_SIGNED};
    return shape;
}

/* Where each lane's first byte is, whatever the space. */
static bool find_hosts(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                       bool is_write, uint8_t *hosts[SIMT_LANES])
{
    enum ptx_space space = access_space(in->ptx);
    unsigned bits = in->flags & SIMT_FLAG_ADDRESS_32 ? 32 : 64;
    if (in->flags & SIMT_FLAG_FRAME) { /* the frame's own memory */
        uint32_t stride = w->block->launch->local_stride;
        uint64_t at = w->path->frame->local_base + (uint64_t)in->imm;
        for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
            hosts[lane] = simt_state(w)->local + (size_t)lane * stride + at;
        return true;
    }
    if (in->flags & SIMT_FLAG_PARAM) {
        for (int lane = 0; lane < SIMT_LANES; lane++)
            hosts[lane] = w->block->launch->params + in->imm;
        return true;
    }
    if (space == PTX_SPACE_PARAM) /* an address that was taken */
        space = w->path->frame->parent ? PTX_SPACE_LOCAL : PTX_SPACE_GENERIC;
    return simt_access_scattered(w, in, space, bits, size, is_write, hosts);
}

static void load_element(uint8_t *reg, const uint8_t *host, const struct shape *shape)
{
    uint8_t value[16] = {0};
    memcpy(value, host, shape->bytes);
    if (shape->is_signed && value[shape->bytes - 1] & 0x80)
        memset(value + shape->bytes, 0xff, sizeof(value) - shape->bytes);
    memcpy(reg, value, shape->reg_bytes);
}

SIMT_BODY(load_any)
{
    struct shape shape = shape_of(in);
    uint8_t *hosts[SIMT_LANES];
    if (!find_hosts(w, in, shape.bytes * shape.count, false, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        for (uint32_t k = 0; k < shape.count; k++) {
            uint32_t slot = in->counts[0] ? in->list[k] : in->d;
            load_element(w->regs + slot + lane * shape.reg_bytes, hosts[lane] + k * shape.bytes,
                         &shape);
        }
    }
    return in + 1;
}

SIMT_BODY(store_any)
{
    struct shape shape = shape_of(in);
    uint8_t *hosts[SIMT_LANES];
    if (!find_hosts(w, in, shape.bytes * shape.count, true, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        for (uint32_t k = 0; k < shape.count; k++) {
            uint32_t slot = in->counts[0] ? in->list[k] : in->b;
            memcpy(hosts[lane] + k * shape.bytes, w->regs + slot + lane * shape.reg_bytes,
                   shape.bytes);
        }
    }
    return in + 1;
}

/* Vectors of 32-bit elements, 8 and 16 bytes a lane: the other hot form. */
#define VECTOR_BODIES(count)                                                                       \
    SIMT_BODY(load_v##count)                                                                       \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!find_hosts(w, in, 4 * count, false, hosts))                                           \
            return NULL;                                                                           \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            uint32_t value[count];                                                                 \
            memcpy(value, hosts[lane], sizeof(value));                                             \
            for (int k = 0; k < count; k++)                                                        \
                SIMT_SLOT(uint32_t, in->list[k])[lane] = value[k];                                 \
        }                                                                                          \
        return in + 1;                                                                             \
    }                                                                                              \
    SIMT_BODY(store_v##count)                                                                      \
    {                                                                                              \
        uint8_t *hosts[SIMT_LANES];                                                                \
        if (!find_hosts(w, in, 4 * count, true, hosts))                                            \
            return NULL;                                                                           \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            uint32_t value[count];                                                                 \
            for (int k = 0; k < count; k++)                                                        \
                value[k] = SIMT_SLOT(uint32_t, in->list[k])[lane];                                 \
            memcpy(hosts[lane], value, sizeof(value));                                             \
        }                                                                                          \
        return in + 1;                                                                             \
    }
VECTOR_BODIES(2)
VECTOR_BODIES(4)

/* Ordered and volatile accesses: a spin loop reads with these. */
SIMT_BODY(load_ordered)
{
    simt_charge(w, 24);
    const struct simt_inst *next = load_any(w, in);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return next;
}

SIMT_BODY(store_ordered)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return store_any(w, in);
}

/* Stack
 * --------------------------------------------------------------------------------------------------
 */

SIMT_BODY(run_alloca)
{
    struct simt_frame *frame = w->path->frame;
    uint64_t most = 0, align = in->ptx->operand_count > 2 ? (uint64_t)in->ptx->operands[2].imm : 8;
    bool wide = in->ptx->types[0] == PTX_U64;
    for (int i = 0; i < SIMT_LANES; i++) {
        uint64_t size = wide ? SIMT_SLOT(uint64_t, in->a)[i] : SIMT_SLOT(uint32_t, in->a)[i];
        most = SIMT_ACTIVE(i) && size > most ? size : most;
    }
    uint64_t place = (frame->local_top + align - 1) & ~(align - 1);
    if (most > w->block->launch->local_stride || place + most > w->block->launch->local_stride)
        return simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, __builtin_ctz(w->mask),
                          "alloca of %llu bytes: the thread's stack has %u",
                          (unsigned long long)most, w->block->launch->local_stride);
    frame->local_top = (uint32_t)(place + most);
    for (int i = 0; i < SIMT_LANES; i++) {
        if (!SIMT_ACTIVE(i))
            continue;
        if (wide)
            SIMT_SLOT(uint64_t, in->d)[i] = place;
        else
            SIMT_SLOT(uint32_t, in->d)[i] = (uint32_t)place;
    }
    return in + 1;
}

SIMT_BODY(run_stacksave)
{
    uint32_t top = w->path->frame->local_top;
    for (int i = 0; i < SIMT_LANES; i++) {
        if (!SIMT_ACTIVE(i))
            continue;
        if (in->ptx->types[0] == PTX_U64)
            SIMT_SLOT(uint64_t, in->d)[i] = top;
        else
            SIMT_SLOT(uint32_t, in->d)[i] = top;
    }
    return in + 1;
}

/* Lanes of other paths share the frame: its top only comes down when all lanes are here. */
SIMT_BODY(run_stackrestore)
{
    int lane = __builtin_ctz(w->mask);
    uint64_t top = in->ptx->types[0] == PTX_U64 ? SIMT_SLOT(uint64_t, in->a)[lane]
                                                : SIMT_SLOT(uint32_t, in->a)[lane];
    if (w->mask == w->live && top <= w->path->frame->local_top)
        w->path->frame->local_top = (uint32_t)top;
    return in + 1;
}

SIMT_BODY(run_hint)
{
    return in + 1;
}

SIMT_BODY(run_policy)
{
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    SIMT_STORE_LANES(uint64_t, 0)
}

/* Selection
 * -------------------------------------------------------------------------------------------------
 */

struct fast_row {
    uint8_t memory_bits, register_bits;
    bool is_signed;
    simt_body *global, *generic, *shared, *param;
};

#define LOAD_ROW(bits, reg, sign, suffix)                                                          \
    {                                                                                              \
        bits, reg, sign, load_global_##suffix, load_generic_##suffix, load_shared_##suffix,        \
            load_param_##suffix                                                                    \
    }
static const struct fast_row fast_loads[] = {
    LOAD_ROW(8, 16, false, u8_16),   LOAD_ROW(8, 16, true, s8_16),
    LOAD_ROW(8, 32, false, u8_32),   LOAD_ROW(8, 32, true, s8_32),
    LOAD_ROW(16, 16, false, u16_16), LOAD_ROW(16, 16, true, u16_16),
    LOAD_ROW(16, 32, false, u16_32), LOAD_ROW(16, 32, true, s16_32),
    LOAD_ROW(32, 32, false, u32_32), LOAD_ROW(32, 32, true, u32_32),
    LOAD_ROW(32, 64, false, u32_64), LOAD_ROW(32, 64, true, s32_64),
    LOAD_ROW(64, 64, false, u64_64), LOAD_ROW(64, 64, true, u64_64)};

#define STORE_ROW(bits, reg, suffix)                                                               \
    {                                                                                              \
        bits, reg, false, store_global_##suffix, store_generic_##suffix, store_shared_##suffix,    \
            NULL                                                                                   \
    }
static const struct fast_row fast_stores[] = {STORE_ROW(8, 16, 16_8),   STORE_ROW(8, 32, 32_8),
                                              STORE_ROW(16, 16, 16_16), STORE_ROW(16, 32, 32_16),
                                              STORE_ROW(32, 32, 32_32), STORE_ROW(32, 64, 64_32),
                                              STORE_ROW(64, 64, 64_64)};

static simt_body *find_fast(const struct fast_row *rows, size_t count,
                            const struct simt_operands *operands, unsigned register_bits,
                            unsigned memory_bits, bool is_signed)
{
    enum ptx_space space = access_space(operands->ptx);
    for (size_t i = 0; i < count; i++) {
        const struct fast_row *row = &rows[i];
        if (row->memory_bits != memory_bits || row->register_bits != register_bits ||
            row->is_signed != is_signed)
            continue;
        if (operands->address == SIMT_ADDRESS_PARAM)
            return row->param;
        if (space == PTX_SPACE_SHARED)
            return operands->a_bits == 32 ? row->shared : NULL;
        if (operands->a_bits != 64)
            return NULL;
        return space == PTX_SPACE_GLOBAL    ? row->global
               : space == PTX_SPACE_GENERIC ? row->generic
                                            : NULL;
    }
    return NULL;
}

static bool is_vector(const struct ptx_inst *ptx, unsigned operand)
{
    return ptx->operands[operand].kind == PTX_OPERAND_VECTOR;
}

static simt_body *select_load(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[ptx->type_count - 1];
    unsigned bits = ptx_type_bits(type);
    if (ptx->op == PTX_OP_LD_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE))
        return load_ordered;
    if (is_vector(ptx, 0)) {
        unsigned count = ptx->operands[0].item_count;
        bool words = bits == 32 && operands->list_bits == 32;
        return words && count == 2 ? load_v2 : words && count == 4 ? load_v4 : load_any;
    }
    simt_body *fast =
        operands->address == SIMT_ADDRESS_FRAME
            ? NULL
            : find_fast(fast_loads, sizeof(fast_loads) / sizeof(*fast_loads), operands,
                        operands->d_bits, bits, ptx_type_kind(type) == PTX_KIND_SIGNED);
    return fast ? fast : load_any;
}

static simt_body *select_store(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    unsigned bits = ptx_type_bits(ptx->types[ptx->type_count - 1]);
    if (ptx->op == PTX_OP_ST_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE))
        return store_ordered;
    if (is_vector(ptx, 1)) {
        unsigned count = ptx->operands[1].item_count;
        bool words = bits == 32 && operands->list_bits == 32;
        return words && count == 2 ? store_v2 : words && count == 4 ? store_v4 : store_any;
    }
    simt_body *fast = operands->address == SIMT_ADDRESS_REGISTER
                          ? find_fast(fast_stores, sizeof(fast_stores) / sizeof(*fast_stores),
                                      operands, operands->b_bits, bits, false)
                          : NULL;
    return fast ? fast : store_any;
}

simt_body *SIMT_NAME(memory_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_LDU:
        return select_load(operands);
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
        return select_store(operands);
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_DISCARD:
    case PTX_OP_APPLYPRIORITY:
        return run_hint;
    case PTX_OP_CREATEPOLICY_FRACTION:
    case PTX_OP_CREATEPOLICY_RANGE:
    case PTX_OP_CREATEPOLICY_CVT:
        return run_policy;
    case PTX_OP_ALLOCA:
        return run_alloca;
    case PTX_OP_STACKSAVE:
        return run_stacksave;
    case PTX_OP_STACKRESTORE:
        return run_stackrestore;
    default:
        return NULL;
    }
}
