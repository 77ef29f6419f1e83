/*
 * exec_memory.c: loads and stores of every kind, local memory, ordered accesses, odd widths; and
 * the stack. Single elements in the usual spaces have faster bodies, in exec_memory_fast.c, and so
 * have the usual vectors, in exec_memory_vector.c. Cache operators and hints change nothing that a
 * program can see.
 */
#include "simt/access.h"

/* Any type in any space
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
    if (!simt_access_hosts(w, in, shape.bytes * shape.count, false, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        _Alignas(16) uint8_t whole[32];
        access_move(whole, hosts[lane], shape.bytes * shape.count);
        for (uint32_t k = 0; k < shape.count; k++) {
            uint32_t slot = in->counts[0] ? in->list[k] : in->d;
            load_element(w->regs + slot + lane * shape.reg_bytes, whole + k * shape.bytes, &shape);
        }
    }
    return in + 1;
}

SIMT_BODY(store_any)
{
    struct shape shape = shape_of(in);
    uint8_t *hosts[SIMT_LANES];
    if (!simt_access_hosts(w, in, shape.bytes * shape.count, true, hosts))
        return NULL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        _Alignas(16) uint8_t whole[32];
        for (uint32_t k = 0; k < shape.count; k++) {
            uint32_t slot = in->counts[0] ? in->list[k] : in->b;
            memcpy(whole + k * shape.bytes, w->regs + slot + lane * shape.reg_bytes, shape.bytes);
        }
        access_move(hosts[lane], whole, shape.bytes * shape.count);
    }
    return in + 1;
}

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
    simt_local_clear(simt_state(w), w->mask, (uint32_t)place, (uint32_t)most);
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

static bool is_vector(const struct ptx_inst *ptx, unsigned operand)
{
    return ptx->operands[operand].kind == PTX_OPERAND_VECTOR;
}

static simt_body *select_load(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    if (ptx->op == PTX_OP_LD_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE))
        return load_ordered;
    simt_body *fast = is_vector(ptx, 0) ? SIMT_NAME(memory_vector_load)(operands)
                                        : SIMT_NAME(memory_fast_load)(operands);
    return fast ? fast : load_any;
}

static simt_body *select_store(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    if (ptx->op == PTX_OP_ST_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE))
        return store_ordered;
    simt_body *fast = is_vector(ptx, 1) ? SIMT_NAME(memory_vector_store)(operands)
                                        : SIMT_NAME(memory_fast_store)(operands);
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
