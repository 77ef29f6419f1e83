/*
 * exec_bulk_map.c: instructions that change and copy tensor maps.
 */
#include "simt/bulk.h"
#include "simt/exec.h"
#include "simt/tma.h"

/* A map is aligned to 64 bytes, and its halves lie side by side. */
static uint8_t *map_bytes(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                          uint64_t at, int lane, bool is_write)
{
    enum { HALF = TENSORMAP_BYTES / 2 };
    uint8_t *first = simt_translate(w, in, space, at, HALF, lane, is_write);
    return first && simt_translate(w, in, space, at + HALF, HALF, lane, is_write) ? first : NULL;
}

static void replace_mode(const struct ptx_inst *ptx, struct tensormap *map, uint32_t value)
{
    /* tensormap.replace numbers the types from f32 on differently than the driver. */
    static const uint8_t types[] = {
        TENSORMAP_U8,   TENSORMAP_U16,  TENSORMAP_U32,     TENSORMAP_S32,     TENSORMAP_U64,
        TENSORMAP_S64,  TENSORMAP_F16,  TENSORMAP_F32,     TENSORMAP_F32_FTZ, TENSORMAP_F64,
        TENSORMAP_BF16, TENSORMAP_TF32, TENSORMAP_TF32_FTZ};
    uint8_t narrow = value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
    if (ptx_has(ptx, PTX_MOD_ELEMTYPE))
        map->type = value < sizeof(types) ? types[value] : UINT8_MAX;
    else if (ptx_has(ptx, PTX_MOD_INTERLEAVE_LAYOUT))
        map->interleave = narrow;
    else if (ptx_has(ptx, PTX_MOD_SWIZZLE_MODE))
        map->swizzle = narrow;
    else
        map->fills_nan = value != 0;
}

/* What does not fit its field makes a map that no copy takes. */
static void replace_dimension(const struct ptx_inst *ptx, struct tensormap *map, uint32_t dimension,
                              uint64_t value)
{
    if (ptx_has(ptx, PTX_MOD_GLOBAL_STRIDE)) {
        if (dimension + 1 < TENSORMAP_RANKS)
            map->strides[dimension] = value;
    } else if (dimension >= TENSORMAP_RANKS) {
        return;
    } else if (ptx_has(ptx, PTX_MOD_BOX_DIM)) {
        map->box[dimension] = value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
    } else if (ptx_has(ptx, PTX_MOD_GLOBAL_DIM)) {
        map->dims[dimension] = (uint32_t)value - 1;
    } else {
        map->steps[dimension] = value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
    }
}

static void replace_field(struct simt_warp *w, const struct simt_inst *in, struct tensormap *map,
                          int lane)
{
    const struct ptx_inst *ptx = in->ptx;
    bool is_wide = ptx->types[0] == PTX_B64;
    uint32_t slot = ptx->op == PTX_OP_TENSORMAP_REPLACE_DIM ? in->c : in->b;
    uint64_t value =
        is_wide ? SIMT_SLOT(const uint64_t, slot)[lane] : SIMT_SLOT(const uint32_t, slot)[lane];
    if (ptx->op == PTX_OP_TENSORMAP_REPLACE_DIM)
        replace_dimension(ptx, map, SIMT_SLOT(const uint32_t, in->b)[lane], value);
    else if (ptx->op == PTX_OP_TENSORMAP_REPLACE_MODE)
        replace_mode(ptx, map, (uint32_t)value);
    else if (ptx_has(ptx, PTX_MOD_RANK)) /* given less one */
        map->rank = value < TENSORMAP_RANKS ? (uint8_t)(value + 1) : UINT8_MAX;
    else
        map->address = value;
}

/* Kernels may write zeros and then replace the fields that are to be others, as Triton's do. A GPU
 * keeps rank, box and steps less one: zeros mean a map of bytes with one dimension. */
static void start_blank(struct tensormap *map)
{
    static const struct tensormap blank;
    if (memcmp(map, &blank, sizeof blank) != 0)
        return;
    map->magic = TENSORMAP_MAGIC;
    map->rank = 1;
    for (int i = 0; i < TENSORMAP_RANKS; i++)
        map->box[i] = map->steps[i] = 1;
}

SIMT_BODY(run_replace)
{
    bool is_shared = ptx_has(in->ptx, PTX_MOD_SHARED_CTA);
    bool is_global = ptx_has(in->ptx, PTX_MOD_GLOBAL);
    enum ptx_space space = is_shared   ? PTX_SPACE_SHARED
                           : is_global ? PTX_SPACE_GLOBAL
                                       : PTX_SPACE_GENERIC;
    bool narrow = in->flags & SIMT_FLAG_ADDRESS_32;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = is_shared ? tma_shared_address(w, in->a, narrow, lane)
                                : tma_address(w, in->a, narrow, lane);
        uint8_t *host = map_bytes(w, in, space, at + (uint64_t)in->imm, lane, true);
        if (!host)
            return NULL;
        struct tensormap *map = (struct tensormap *)(void *)host;
        start_blank(map);
        if (map->magic != TENSORMAP_MAGIC)
            return simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                              "%s: there is no tensor map at 0x%llx", in->ptx->text,
                              (unsigned long long)at);
        replace_field(w, in, map, lane);
    }
    return in + 1;
}

/* The warp does it together, with one address. */
SIMT_BODY(run_copy_map)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    int lane = __builtin_ctz(w->mask);
    uint64_t to = tma_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) + (uint64_t)in->imm;
    uint64_t from = tma_shared_address(w, in->b, in->counts[0] == 32, lane);
    uint8_t *target = map_bytes(w, in, PTX_SPACE_GLOBAL, to, lane, true);
    const uint8_t *source = target ? map_bytes(w, in, PTX_SPACE_SHARED, from, lane, false) : NULL;
    if (!source)
        return NULL;
    memcpy(target, source, TENSORMAP_BYTES);
    return in + 1;
}

simt_body *SIMT_NAME(bulk_map_select)(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_TENSORMAP_REPLACE:
    case PTX_OP_TENSORMAP_REPLACE_DIM:
    case PTX_OP_TENSORMAP_REPLACE_MODE:
        return run_replace;
    case PTX_OP_TENSORMAP_COPY:
        return run_copy_map;
    default:
        return NULL;
    }
}
