/*
 * surface_run.c: suld, sust and sured, lane by lane.
 * .b takes the x coordinate in bytes and moves the bytes as they are; .p takes it in elements and
 * stores in the surface's format.
 */
#include "simt/access.h"
#include "simt/texture_inst.h"

static uint32_t access_bytes(const struct ptx_inst *ptx, const struct simt_texture *surface)
{
    unsigned count = ptx_has(ptx, PTX_MOD_V4) ? 4 : ptx_has(ptx, PTX_MOD_V2) ? 2 : 1;
    if (ptx->op == PTX_OP_SUST_P)
        return surface->element;
    if (ptx->op == PTX_OP_SURED_P)
        return 4;
    return ptx_type_bits(ptx->types[0]) / 8 * count;
}

/* Which operand has the handle and coordinates, and where they begin in the list. */
static uint32_t first_coordinate(const struct ptx_inst *ptx)
{
    return ptx->op == PTX_OP_SULD && ptx->operands[0].kind == PTX_OPERAND_VECTOR
               ? ptx->operands[0].item_count
               : 0;
}

static bool is_layered(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_A1D) || ptx_has(ptx, PTX_MOD_A2D);
}

void surface_access_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                       const struct simt_texture *surface, struct surface_access *access)
{
    const struct ptx_inst *ptx = in->ptx;
    const struct texture_level *level = &surface->levels[0];
    const uint32_t *list = in->list + first_coordinate(ptx);
    bool layered = is_layered(ptx), is_clamped = ptx_has(ptx, PTX_MOD_CLAMP), is_outside = false;
    bool is_formatted = ptx->op == PTX_OP_SUST_P || ptx->op == PTX_OP_SURED_P;
    unsigned axes = surface->dimensions;
    *access = (struct surface_access){.bytes = access_bytes(ptx, surface)};
    int64_t extents[3] = {level->width, level->height,
                          layered ? (int64_t)surface->layers : (int64_t)level->depth};
    int64_t step = is_formatted ? 1 : access->bytes;
    if (!is_formatted)
        extents[0] *= surface->element;
    for (unsigned k = 0; k < axes; k++)
        access->at[k] = (int32_t)SIMT_SLOT(const uint32_t, list[layered + k])[lane];
    if (layered)
        access->at[2] = (int32_t)SIMT_SLOT(const uint32_t, list[0])[lane];
    int64_t at[3];
    for (unsigned k = 0; k < 3; k++) {
        int64_t last = extents[k] - (k ? 1 : step);
        at[k] = k == 2 && layered ? (int64_t)(uint32_t)access->at[k] : access->at[k];
        if (at[k] >= 0 && at[k] <= last)
            continue;
        is_outside = true;
        at[k] = at[k] < 0 || last < 0 ? 0 : last;
    }
    if (is_outside && !is_clamped) {
        access->where = ptx_has(ptx, PTX_MOD_ZERO) ? SURFACE_IGNORED : SURFACE_TRAPS;
        return;
    }
    uint64_t x = (uint64_t)at[0] * (is_formatted ? surface->element : 1);
    if (x % access->bytes) {
        access->where = SURFACE_MISALIGNED;
        return;
    }
    access->address = texture_byte(level, x, (uint64_t)at[1], (uint64_t)at[2]);
}

/* Where the lane's bytes are; NULL: nothing is to be done, or a fault was raised (*failed). */
static uint8_t *lane_bytes(struct simt_warp *w, const struct simt_inst *in, int lane,
                           const struct simt_texture *surface, uint32_t *bytes, bool *failed)
{
    struct surface_access access;
    surface_access_of(w, in, lane, surface, &access);
    *bytes = access.bytes;
    const struct texture_level *level = &surface->levels[0];
    if (access.where == SURFACE_IGNORED)
        return NULL;
    *failed = true;
    if (access.where == SURFACE_TRAPS) {
        simt_raise(
            w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane,
            "%u bytes at x = %d (bytes), y = %d, z = %d are outside the surface of %u x %u x "
            "%u elements of %u bytes",
            access.bytes, access.at[0], access.at[1], access.at[2], level->width, level->height,
            surface->is_layered || surface->is_cube ? surface->layers : level->depth,
            surface->element);
        return NULL;
    }
    if (access.where == SURFACE_MISALIGNED) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "x = %d (in bytes) is not a multiple of the %u bytes accessed", access.at[0],
                   access.bytes);
        return NULL;
    }
    uint8_t *host =
        simt_memory_host(&w->block->launch->machine->memory, access.address, access.bytes);
    if (!host)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane, "the surface's memory was freed");
    *failed = !host;
    return host;
}

/* The registers of the value: d, b, or a part of the list. */
static uint32_t value_slot(const struct simt_inst *in, unsigned index)
{
    const struct ptx_inst *ptx = in->ptx;
    bool is_load = ptx->op == PTX_OP_SULD;
    const struct ptx_operand *value = &ptx->operands[is_load ? 0 : 1];
    if (value->kind != PTX_OPERAND_VECTOR)
        return is_load ? in->d : in->b;
    return in->list[is_load ? index : ptx->operands[0].item_count + index];
}

static unsigned value_count(const struct ptx_inst *ptx)
{
    const struct ptx_operand *value = &ptx->operands[ptx->op == PTX_OP_SULD ? 0 : 1];
    return value->kind == PTX_OPERAND_VECTOR ? value->item_count : 1;
}

const struct simt_inst *surface_run_load(struct simt_warp *w, const struct simt_inst *in)
{
    unsigned width = in->flags >> SIMT_FLAG_BYTES_SHIFT, count = value_count(in->ptx);
    unsigned size = ptx_type_bits(in->ptx->types[0]) / 8;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *surface = texture_of(w, in, lane);
        uint8_t bytes[32] = {0}; /* access_move knows sizes up to this */
        uint32_t all = 0;
        bool failed = false;
        const uint8_t *host = surface ? lane_bytes(w, in, lane, surface, &all, &failed) : NULL;
        if (!surface || failed)
            return NULL;
        if (host)
            access_move(bytes, host, all);
        for (unsigned k = 0; k < count; k++) {
            uint64_t value = 0;
            memcpy(&value, bytes + k * size, size);
            memcpy(w->regs + value_slot(in, k) + (unsigned)lane * width, &value, width);
        }
    }
    return in + 1;
}

const struct simt_inst *surface_run_store(struct simt_warp *w, const struct simt_inst *in)
{
    unsigned width = in->flags >> SIMT_FLAG_BYTES_SHIFT, count = value_count(in->ptx);
    unsigned size = ptx_type_bits(in->ptx->types[0]) / 8;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *surface = texture_of(w, in, lane);
        uint8_t bytes[32] = {0}; /* access_move knows sizes up to this */
        uint32_t words[4] = {0}, all = 0;
        bool failed = false;
        uint8_t *host = surface ? lane_bytes(w, in, lane, surface, &all, &failed) : NULL;
        if (!surface || failed)
            return NULL;
        if (!host)
            continue;
        for (unsigned k = 0; k < count; k++) {
            const uint8_t *slot = w->regs + value_slot(in, k) + (unsigned)lane * width;
            memcpy(bytes + k * size, slot, size);
            memcpy(&words[k], slot, width < 4 ? width : 4);
        }
        if (in->ptx->op == PTX_OP_SUST_P)
            texture_pack(surface, words, bytes);
        access_move(host, bytes, all);
    }
    return in + 1;
}

/* Reductions -------------------------------------------------------------------------------------
 */

#define REDUCE(name, T, expression)                                                                \
    static void name(void *place, uint64_t value)                                                  \
    {                                                                                              \
        T y = (T)value, x = __atomic_load_n((T *)place, __ATOMIC_RELAXED);                         \
        while (!__atomic_compare_exchange_n((T *)place, &x, (T)(expression), false,                \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
    }
#define REDUCE_BOTH(bits)                                                                          \
    REDUCE(add_##bits, uint##bits##_t, x + y)                                                      \
    REDUCE(and_##bits, uint##bits##_t, x &y)                                                       \
    REDUCE(or_##bits, uint##bits##_t, x | y)                                                       \
    REDUCE(min_u##bits, uint##bits##_t, x < y ? x : y)                                             \
    REDUCE(max_u##bits, uint##bits##_t, x > y ? x : y)                                             \
    REDUCE(min_s##bits, int##bits##_t, x < y ? x : y)                                              \
    REDUCE(max_s##bits, int##bits##_t, x > y ? x : y)
REDUCE_BOTH(32)
REDUCE_BOTH(64)

static void reduce(const struct ptx_inst *ptx, const struct simt_texture *surface, void *place,
                   uint64_t value)
{
    enum ptx_type type = ptx->types[0];
    bool wide = ptx_type_bits(type) == 64;
    bool is_signed = ptx->op == PTX_OP_SURED_P ? surface->format == TEXTURE_S32
                                               : ptx_type_kind(type) == PTX_KIND_SIGNED;
    if (ptx_has(ptx, PTX_MOD_ADD))
        (wide ? add_64 : add_32)(place, value);
    else if (ptx_has(ptx, PTX_MOD_AND))
        (wide ? and_64 : and_32)(place, value);
    else if (ptx_has(ptx, PTX_MOD_OR))
        (wide ? or_64 : or_32)(place, value);
    else if (ptx_has(ptx, PTX_MOD_MIN))
        (is_signed ? wide ? min_s64 : min_s32 : wide ? min_u64 : min_u32)(place, value);
    else
        (is_signed ? wide ? max_s64 : max_s32 : wide ? max_u64 : max_u32)(place, value);
}

const struct simt_inst *surface_run_reduce(struct simt_warp *w, const struct simt_inst *in)
{
    unsigned width = in->flags >> SIMT_FLAG_BYTES_SHIFT;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *surface = texture_of(w, in, lane);
        uint32_t all = 0;
        bool failed = false;
        uint8_t *host = surface ? lane_bytes(w, in, lane, surface, &all, &failed) : NULL;
        if (!surface || failed)
            return NULL;
        uint64_t value = 0;
        memcpy(&value, w->regs + in->b + (unsigned)lane * width, width);
        if (host)
            reduce(in->ptx, surface, host, value);
    }
    return in + 1;
}
