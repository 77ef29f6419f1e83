/*
 * exec_move.c: mov in all its forms, address conversions, special registers that change.
 */
#include "simt/clock.h"
#include "simt/cluster.h"

#include <time.h>

SIMT_MAP1(mov_16, uint16_t, uint16_t, x)
SIMT_MAP1(mov_32, uint32_t, uint32_t, x)
SIMT_MAP1(mov_64, uint64_t, uint64_t, x)
SIMT_MAP1(mov_32_to_64, uint64_t, uint32_t, x)
SIMT_MAP1(mov_64_to_32, uint32_t, uint64_t, x)
SIMT_MAP1(mov_32_to_16, uint16_t, uint32_t, x)
SIMT_MAP1(mov_16_to_32, uint32_t, uint16_t, x)

SIMT_BODY(mov_pred)
{
    simt_set_predicate(w, in->d, simt_predicate(w, in->a));
    return in + 1;
}

SIMT_BODY(mov_128)
{
    for (int i = 0; i < SIMT_LANES; i++)
        if (SIMT_ACTIVE(i))
            memcpy(SIMT_SLOT(uint8_t, in->d) + 16 * i, SIMT_SLOT(uint8_t, in->a) + 16 * i, 16);
    return in + 1;
}

/* Packing: the low element comes first. Elements and wholes are copied byte by byte, so one body
 * serves all widths. A register of 8 bits lies in a slot of 16. */
static inline unsigned part_stride(unsigned part)
{
    return part < 2 ? 2 : part;
}

SIMT_BODY(mov_pack)
{
    unsigned count = in->counts[0], bytes = (unsigned)in->imm, part = bytes / count;
    unsigned stride = part_stride(part);
    for (int i = 0; i < SIMT_LANES; i++) {
        if (!SIMT_ACTIVE(i))
            continue;
        uint8_t whole[16];
        for (unsigned k = 0; k < count; k++)
            memcpy(whole + k * part, SIMT_SLOT(uint8_t, in->list[k]) + stride * (unsigned)i, part);
        memcpy(SIMT_SLOT(uint8_t, in->d) + bytes * (unsigned)i, whole, bytes);
    }
    return in + 1;
}

SIMT_BODY(mov_unpack)
{
    unsigned count = in->counts[0], bytes = (unsigned)in->imm, part = bytes / count;
    unsigned stride = part_stride(part);
    for (int i = 0; i < SIMT_LANES; i++) {
        if (!SIMT_ACTIVE(i))
            continue;
        uint8_t whole[16];
        memcpy(whole, SIMT_SLOT(uint8_t, in->a) + bytes * (unsigned)i, bytes);
        for (unsigned k = 0; k < count; k++) {
            uint8_t *to = SIMT_SLOT(uint8_t, in->list[k]) + stride * (unsigned)i;
            memcpy(to, whole + k * part, part);
            if (part < stride)
                to[1] = 0;
        }
    }
    return in + 1;
}

/* The common ones, as loops that vectorise. */
SIMT_BODY(pack_2x32)
{
    const uint32_t *x = SIMT_SLOT(const uint32_t, in->list[0]);
    const uint32_t *y = SIMT_SLOT(const uint32_t, in->list[1]);
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    SIMT_STORE_LANES(uint64_t, x[i] | (uint64_t)y[i] << 32)
}

SIMT_BODY(pack_2x16)
{
    const uint16_t *x = SIMT_SLOT(const uint16_t, in->list[0]);
    const uint16_t *y = SIMT_SLOT(const uint16_t, in->list[1]);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    SIMT_STORE_LANES(uint32_t, x[i] | (uint32_t)y[i] << 16)
}

#define UNPACK_2(name, WHOLE, PART, shift)                                                         \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        WHOLE a[SIMT_LANES];                                                                       \
        memcpy(a, SIMT_SLOT(WHOLE, in->a), sizeof(a));                                             \
        PART *x = SIMT_SLOT(PART, in->list[0]), *y = SIMT_SLOT(PART, in->list[1]);                 \
        uint32_t mask = w->mask;                                                                   \
        SIMT_EACH_LANE x[i] = mask >> i & 1 ? (PART)a[i] : x[i];                                   \
        SIMT_EACH_LANE y[i] = mask >> i & 1 ? (PART)(a[i] >> shift) : y[i];                        \
        return in + 1;                                                                             \
    }
UNPACK_2(unpack_2x32, uint64_t, uint32_t, 32)
UNPACK_2(unpack_2x16, uint32_t, uint16_t, 16)

/* Addresses: global, constant and parameter addresses are generic ones; shared and local windows
 * lie at fixed places. */
#define CVTA_BODIES(name, WINDOW)                                                                  \
    SIMT_MAP1(name##_64, uint64_t, uint64_t, x + WINDOW)                                           \
    SIMT_MAP1(name##_32, uint32_t, uint32_t, x)                                                    \
    SIMT_MAP1(name##_32_to_64, uint64_t, uint32_t, x + WINDOW)                                     \
    SIMT_MAP1(name##_to_64, uint64_t, uint64_t, x - WINDOW)                                        \
    SIMT_MAP1(name##_to_64_32, uint32_t, uint64_t, x - WINDOW)
CVTA_BODIES(cvta_shared, SIMT_SHARED_WINDOW)
CVTA_BODIES(cvta_local, SIMT_LOCAL_WINDOW)

/* LLVM keeps addresses of parameters in 32 bits (nvptx-short-ptr), and widens them for cvta.param:
 * what is above them is that of the buffer they lie in. */
SIMT_MAP1(cvta_param_64, uint64_t, uint64_t,
          x >> 32 ? x : (w->block->launch->params_address >> 32 << 32 | x))

static bool is_const_address(const struct simt_module *module, uint64_t address)
{
    for (uint32_t i = 0; i < module->ptx->var_count; i++)
        if (module->ptx->vars[i]->space == PTX_SPACE_CONST &&
            address - module->var_addresses[i] < module->ptx->vars[i]->size)
            return true;
    return false;
}

#define ISSPACE_WIDE(name, TYPE, condition)                                                        \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const TYPE *a = SIMT_SLOT(const TYPE, in->a);                                              \
        uint32_t bits = 0;                                                                         \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            uint64_t x = a[i];                                                                     \
            bits |= (uint32_t)(condition) << i;                                                    \
        }                                                                                          \
        simt_set_predicate(w, in->d, bits);                                                        \
        return in + 1;                                                                             \
    }
#define ISSPACE_BODIES(name, condition)                                                            \
    ISSPACE_WIDE(name, uint64_t, condition)                                                        \
    ISSPACE_WIDE(name##_32, uint32_t, condition)
ISSPACE_BODIES(isspace_shared, x - SIMT_SHARED_WINDOW - w->block->window < SIMT_SHARED_WINDOW_SIZE)
ISSPACE_BODIES(isspace_cluster,
               x - SIMT_SHARED_WINDOW < SIMT_SHARED_WINDOW_SIZE * w->block->launch->cluster_size)
ISSPACE_BODIES(isspace_local, x - SIMT_LOCAL_WINDOW < SIMT_LOCAL_WINDOW_SIZE)
ISSPACE_BODIES(isspace_global, x < SIMT_SHARED_WINDOW)
ISSPACE_BODIES(isspace_param,
               x - w->block->launch->params_address < w->block->launch->kernel->info.param_bytes)
ISSPACE_BODIES(isspace_const, is_const_address(w->block->launch->kernel->module, x))

/* A shared address has the rank of its block above the offset; a generic one lies in the window.
 */
#define RANK_BITS ((uint64_t)(SIMT_CLUSTER_MOST - 1) << SIMT_RANK_SHIFT)
SIMT_MAP2(mapa_64, uint64_t, uint64_t, uint32_t,
          (x & ~RANK_BITS) | (uint64_t)(y & 255) << SIMT_RANK_SHIFT)
SIMT_MAP2(mapa_32, uint32_t, uint32_t, uint32_t, (x & ~(uint32_t)RANK_BITS) | y << SIMT_RANK_SHIFT)
SIMT_MAP1(rank_32, uint32_t, uint32_t, x >> SIMT_RANK_SHIFT)
SIMT_MAP1(rank_64, uint32_t, uint64_t, (x & RANK_BITS) >> SIMT_RANK_SHIFT)

/* Special registers that change while a kernel runs: see clock.h. A loop that only waits for one of
 * them has its number, and its length, in imm. */
static uint64_t clock_now(struct simt_warp *w, const struct simt_inst *in)
{
    enum { TURNS = 12, SLACK = 64 };
    struct simt_warp_state *warp = simt_state(w);
    simt_charge(w, 4);
    simt_charge_turns(w, TURNS);
    bool pauses = simt_pauses(w, 2);
    warp->blind_ops += pauses ? 0 : 2;
    uint64_t now = simt_clock(warp), loop = (uint64_t)in->imm;
    simt_keep_time(w, in);
    bool holds = pauses && in->flags & SIMT_FLAG_BACKOFF && simt_holds_clock(w->block);
    if (holds || (w->block->worker->holds_clock && !loop))
        return warp->held = warp->held ? warp->held : now;
    warp->held = 0;
    if (!loop)
        return now;
    uint64_t turn = ((loop & UINT32_MAX) + SLACK) * w->block->launch->pace;
    if (warp->wait_loop != loop || now - warp->wait_seen > turn) {
        warp->wait_loop = loop;
        warp->wait_from = now;
    }
    uint64_t skip = (now - warp->wait_from) / w->block->launch->wait_part;
    warp->waits_for_clock = true;
    warp->clock += skip;
    return warp->wait_seen = now + skip;
}

static uint64_t clock_value(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_launch_state *launch = w->block->launch;
    double mhz = launch->machine->gpu->boost_mhz;
    uint64_t cycles = clock_now(w, in) >> SIMT_CLOCK_BITS;
    if (in->ptx->operands[1].sreg < PTX_SREG_GLOBALTIMER)
        return (uint64_t)(launch->started * mhz * 1e6) + cycles;
    return (uint64_t)(launch->started * 1e9 + (double)cycles * 1e3 / mhz);
}

SIMT_BODY(read_clock_64)
{
    uint64_t value = clock_value(w, in), *d = SIMT_SLOT(uint64_t, in->d);
    SIMT_STORE_LANES(uint64_t, value)
}

SIMT_BODY(read_clock_32)
{
    uint64_t value = clock_value(w, in);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    enum ptx_sreg sreg = in->ptx->operands[1].sreg;
    if (sreg == PTX_SREG_CLOCK_HI || sreg == PTX_SREG_GLOBALTIMER_HI)
        value >>= 32;
    SIMT_STORE_LANES(uint32_t, value)
}

static bool is_changing(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SREG && operand->sreg >= PTX_SREG_CLOCK &&
           operand->sreg <= PTX_SREG_GLOBALTIMER_HI;
}

/* whole_bits: of the register that is packed or unpacked. */
static simt_body *select_packing(const struct simt_operands *operands, unsigned whole_bits,
                                 unsigned count, bool packs)
{
    unsigned part = whole_bits / count;
    if (part_stride(part / 8) * 8 != operands->list_bits)
        return NULL;
    if (count == 2 && part == 32)
        return packs ? pack_2x32 : unpack_2x32;
    if (count == 2 && part == 16)
        return packs ? pack_2x16 : unpack_2x16;
    return packs ? mov_pack : mov_unpack;
}

static simt_body *select_mov(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    const struct ptx_operand *to = &ptx->operands[0], *from = &ptx->operands[1];
    if (to->kind == PTX_OPERAND_VECTOR)
        return select_packing(operands, operands->a_bits, to->item_count, false);
    if (from->kind == PTX_OPERAND_VECTOR)
        return select_packing(operands, operands->d_bits, from->item_count, true);
    if (is_changing(from))
        return operands->d_bits == 64 ? read_clock_64 : read_clock_32;
    switch (operands->d_bits) {
    case 1:
        return mov_pred;
    case 16:
        return operands->a_bits == 32 ? mov_32_to_16 : mov_16;
    case 32:
        return operands->a_bits == 64   ? mov_64_to_32
               : operands->a_bits == 16 ? mov_16_to_32
                                        : mov_32;
    case 64:
        return operands->a_bits == 32 ? mov_32_to_64 : mov_64;
    default:
        return mov_128;
    }
}

static simt_body *select_cvta(const struct simt_operands *operands, bool to)
{
    const struct ptx_inst *ptx = operands->ptx;
    bool shared = ptx_has(ptx, PTX_MOD_SHARED) || ptx_has(ptx, PTX_MOD_SHARED_CTA) ||
                  ptx_has(ptx, PTX_MOD_SHARED_CLUSTER);
    bool local = ptx_has(ptx, PTX_MOD_LOCAL);
    bool from_wide = operands->a_bits == 64, wide = operands->d_bits == 64;
    if (ptx_has(ptx, PTX_MOD_PARAM) && !to && wide && from_wide)
        return cvta_param_64;
    if (!shared && !local)
        return wide ? (from_wide ? mov_64 : mov_32_to_64) : (from_wide ? mov_64_to_32 : mov_32);
    if (to && from_wide)
        return shared ? (wide ? cvta_shared_to_64 : cvta_shared_to_64_32)
                      : (wide ? cvta_local_to_64 : cvta_local_to_64_32);
    if (!wide)
        return shared ? cvta_shared_32 : cvta_local_32;
    if (from_wide)
        return shared ? cvta_shared_64 : cvta_local_64;
    return shared ? cvta_shared_32_to_64 : cvta_local_32_to_64;
}

static simt_body *select_isspacep(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    bool narrow = operands->a_bits == 32;
    if (ptx_has(ptx, PTX_MOD_GLOBAL))
        return narrow ? isspace_global_32 : isspace_global;
    if (ptx_has(ptx, PTX_MOD_LOCAL))
        return narrow ? isspace_local_32 : isspace_local;
    if (ptx_has(ptx, PTX_MOD_CONST))
        return narrow ? isspace_const_32 : isspace_const;
    if (ptx_has(ptx, PTX_MOD_PARAM) || ptx_has(ptx, PTX_MOD_PARAM_ENTRY))
        return narrow ? isspace_param_32 : isspace_param;
    if (ptx_has(ptx, PTX_MOD_SHARED_CLUSTER))
        return narrow ? isspace_cluster_32 : isspace_cluster;
    return narrow ? isspace_shared_32 : isspace_shared;
}

simt_body *SIMT_NAME(move_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_MOV:
        return select_mov(operands);
    case PTX_OP_CVTA:
        return select_cvta(operands, false);
    case PTX_OP_CVTA_TO:
        return select_cvta(operands, true);
    case PTX_OP_ISSPACEP:
        return select_isspacep(operands);
    case PTX_OP_MAPA:
        return operands->d_bits == 64 ? mapa_64 : mapa_32;
    case PTX_OP_GETCTARANK:
        return operands->a_bits == 32 ? rank_32 : rank_64;
    default:
        return NULL;
    }
}
