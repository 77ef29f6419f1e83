/*
 * tma.c: bulk copies of tensors: operands, the checks a GPU makes when one is issued, and the walk
 * over the rows of the box. It moves no bytes.
 */
#include "simt/tma.h"

/* Why a GPU would not take the map; NULL if it would. Maps come from the driver, which has checked
 * them, but tensormap.replace may have changed them since. */
static const char *map_fault(const struct tensormap *map)
{
    if (map->type >= TENSORMAP_TYPES)
        return "its element type is unknown";
    if (!map->rank || map->rank > TENSORMAP_RANKS)
        return "its rank is not 1 to 5";
    if (map->swizzle > TENSORMAP_SWIZZLE_128 || map->interleave > TENSORMAP_INTERLEAVE_32)
        return "its swizzle or interleave mode is unknown";
    if (map->address % 16)
        return "its global address is not a multiple of 16";
    for (unsigned i = 0; i + 1 < map->rank; i++)
        if (map->strides[i] % 16)
            return "a stride is not a multiple of 16 bytes";
    for (unsigned i = 0; i < map->rank; i++)
        if (map->steps[i] < 1 || map->steps[i] > 8)
            return "an element stride is not 1 to 8";
    for (unsigned i = 0; i < (map->is_im2col ? 2u : map->rank); i++)
        if (!map->box[i] || map->box[i] > (map->is_im2col && i ? 1024 : 256))
            return "a box dimension is too large, or zero";
    uint32_t row = map->box[0] * tensormap_element(map->type);
    if (row % 16)
        return "a row of the box is not a multiple of 16 bytes";
    if (map->interleave)
        return map->rank < 3 ? "interleaved tensors have 3 to 5 dimensions" : NULL;
    if (map->swizzle && row > tensormap_span(map->swizzle))
        return "a row of the box is wider than the swizzle";
    return NULL;
}

static bool read_map(struct simt_warp *w, const struct simt_inst *in, int lane,
                     struct tma_copy *copy)
{
    struct simt_memory *memory = &w->block->launch->machine->memory;
    unsigned long long at = copy->map_address;
    if (copy->map_address % TENSORMAP_ALIGN) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "the tensor map at 0x%llx is not aligned to 64 bytes", at);
        return false;
    }
    const uint8_t *host = simt_memory_host(memory, copy->map_address, TENSORMAP_BYTES);
    if (!host) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane,
                   "tensor map at 0x%llx: not in global, constant or parameter memory", at);
        return false;
    }
    memcpy(&copy->map, host, sizeof(copy->map));
    if (copy->map.magic != TENSORMAP_MAGIC) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "0x%llx is not a tensor map: cuTensorMapEncodeTiled and ..Im2col make them", at);
        return false;
    }
    const char *why = map_fault(&copy->map);
    if (why) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the tensor map at 0x%llx is not valid: %s", at, why);
        return false;
    }
    return true;
}

static unsigned rank_of(const struct ptx_inst *ptx)
{
    for (unsigned i = 0; i < TENSORMAP_RANKS; i++)
        if (ptx_has(ptx, PTX_MOD_1D + i))
            return i + 1;
    return 0;
}
_Static_assert(PTX_MOD_5D - PTX_MOD_1D == 4, "the ranks are neighbours in mods.def");

static bool fits_instruction(struct simt_warp *w, const struct simt_inst *in, int lane,
                             const struct tma_copy *copy)
{
    const struct tensormap *map = &copy->map;
    unsigned rank = rank_of(in->ptx);
    if (map->rank != rank)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the tensor map has %u dimensions, the instruction %u", map->rank, rank);
    else if (map->is_im2col != copy->is_im2col)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the tensor map is for %s copies, the instruction for %s copies",
                   map->is_im2col ? "im2col" : "tiled", copy->is_im2col ? "im2col" : "tiled");
    else
        return true;
    return false;
}

/* The dimension of the slices of an interleaved tensor, in which a box has no extent. */
static bool is_slice(const struct tensormap *map, unsigned dimension)
{
    return map->interleave && dimension == map->rank - 2u;
}

/* The dimension that the first corner and the first offset of im2col are about: W. */
static unsigned first_of_space(const struct tensormap *map)
{
    return map->interleave ? 0 : 1;
}

/* As measured on an H200: an im2col walk begins inside the bounding box of its pixels, and that of
 * a store lies inside the tensor. */
static bool check_pixels(struct simt_warp *w, const struct simt_inst *in, int lane,
                         const struct tma_copy *copy)
{
    const struct tensormap *map = &copy->map;
    for (unsigned i = 0; i + 2u < map->rank; i++) {
        unsigned dimension = first_of_space(map) + i;
        int64_t end = (int64_t)map->dims[dimension] + 1 + map->upper[i];
        if (copy->at[dimension] < map->lower[i] || copy->at[dimension] >= end) {
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                       "coordinate %u, %lld, is not in the bounding box of the pixels, %d to %lld",
                       dimension, (long long)copy->at[dimension], map->lower[i],
                       (long long)end - 1);
            return false;
        }
        if (!copy->is_load && (map->lower[i] < 0 || map->upper[i] > 0)) {
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                       "the bounding box of the pixels leaves the tensor in dimension %u: stores "
                       "and reductions take none that does",
                       dimension);
            return false;
        }
    }
    return true;
}

/* As measured on an H200: the innermost coordinate must be a multiple of 16 bytes, and whatever
 * writes global memory must not begin before the tensor. */
static bool check_coordinates(struct simt_warp *w, const struct simt_inst *in, int lane,
                              const struct tma_copy *copy)
{
    if (copy->at[0] * copy->unit % 16) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the innermost coordinate, %lld, is not a multiple of 16 bytes",
                   (long long)copy->at[0]);
        return false;
    }
    for (unsigned i = 0; i < copy->map.rank && !copy->is_load; i++)
        if (copy->at[i] < 0) {
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                       "coordinate %u is %lld: stores and reductions take no negative ones", i,
                       (long long)copy->at[i]);
            return false;
        }
    if (copy->shared % 128) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "the box in shared memory, at 0x%x, is not aligned to 128 bytes", copy->shared);
        return false;
    }
    return !copy->is_im2col || check_pixels(w, in, lane, copy);
}

/* How many elements a box takes in a dimension. */
static uint32_t extent(const struct tensormap *map, unsigned dimension)
{
    uint32_t step = map->steps[dimension];
    return is_slice(map, dimension) ? 1 : (map->box[dimension] + step - 1) / step;
}

static void measure(struct tma_copy *copy)
{
    const struct tensormap *map = &copy->map;
    copy->unit = map->interleave ? 8u << map->interleave : tensormap_element(map->type);
    /* Slices that do not follow one another in memory are rows of their own. */
    copy->first = map->interleave && (copy->is_im2col || map->steps[0] > 1) ? 0 : 1;
    copy->row_bytes = copy->first ? map->box[0] * copy->unit : copy->unit;
    copy->pitch = map->swizzle && !map->interleave ? tensormap_span(map->swizzle) : copy->row_bytes;
    copy->row_count = 1;
    if (copy->is_im2col)
        copy->row_count = map->box[1];
    else
        for (unsigned i = copy->first; i < map->rank; i++)
            copy->row_count *= extent(map, i);
    copy->bytes = copy->row_count * copy->row_bytes;
}

bool tma_is_counted(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_BULK_RED_S:
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
        return true;
    default:
        return false;
    }
}

struct tma_targets tma_targets(const struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct tma_targets targets;
    bool is_tensor = ptx_has(in->ptx, PTX_MOD_TENSOR);
    uint32_t rank, mbarrier_rank, size = w->block->cluster ? w->block->cluster->size : 1;
    simt_shared_split(tma_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) +
                          (uint64_t)in->imm,
                      &rank, &targets.shared);
    simt_shared_split(tma_address(w, is_tensor ? in->c : in->e, in->counts[1] == 32, lane),
                      &mbarrier_rank, &targets.mbarrier);
    if (!ptx_has(in->ptx, PTX_MOD_SHARED_CLUSTER))
        rank = mbarrier_rank = simt_block_rank(w->block);
    if (ptx_has(in->ptx, PTX_MOD_MULTICAST_CLUSTER)) {
        targets.ranks = SIMT_SLOT(const uint16_t, is_tensor ? in->e : in->list[0])[lane];
        if (targets.ranks >> size)
            targets.ranks = 0;
    } else {
        targets.ranks = rank < size && rank == mbarrier_rank ? 1u << rank : 0;
    }
    return targets;
}

bool tma_begin(struct simt_warp *w, const struct simt_inst *in, int lane, struct tma_copy *copy)
{
    const struct ptx_inst *ptx = in->ptx;
    bool is_prefetch = ptx->op == PTX_OP_TMA_PREFETCH || ptx->op == PTX_OP_TMA_PREFETCH_IM2COL;
    bool has_offsets = ptx->op == PTX_OP_TMA_LOAD_IM2COL || ptx->op == PTX_OP_TMA_PREFETCH_IM2COL;
    unsigned rank = rank_of(ptx);
    memset(copy, 0, sizeof(*copy));
    copy->is_load = ptx->op == PTX_OP_TMA_LOAD || has_offsets || is_prefetch;
    copy->is_im2col = has_offsets || ptx_has(ptx, PTX_MOD_IM2COL_NO_OFFS);
    bool first_narrow = in->flags & SIMT_FLAG_ADDRESS_32, second_narrow = in->counts[0] == 32;
    if (copy->is_load && !is_prefetch) {
        copy->shared = tma_targets(w, in, lane).shared;
        copy->map_address = tma_address(w, in->b, second_narrow, lane);
    } else {
        copy->map_address = tma_address(w, in->a, first_narrow, lane) + (uint64_t)in->imm;
        if (!is_prefetch)
            copy->shared = (uint32_t)tma_shared_address(w, in->b, second_narrow, lane);
    }
    if (!read_map(w, in, lane, copy) || !fits_instruction(w, in, lane, copy))
        return false;
    for (unsigned i = 0; i < rank; i++)
        copy->at[i] = SIMT_SLOT(const int32_t, in->list[i])[lane];
    for (unsigned i = 0; has_offsets && i < rank - 2; i++)
        copy->offsets[i] = SIMT_SLOT(const uint16_t, in->list[rank + i])[lane];
    measure(copy);
    return check_coordinates(w, in, lane, copy);
}

void tma_walk_begin(const struct tma_copy *copy, struct tma_walk *walk)
{
    memset(walk, 0, sizeof(*walk));
    memcpy(walk->at, copy->at, sizeof(walk->at));
}

static void next_of_box(const struct tma_copy *copy, struct tma_walk *walk)
{
    const struct tensormap *map = &copy->map;
    for (unsigned i = copy->first; i < map->rank; i++) {
        walk->at[i] += map->steps[i];
        if (++walk->counts[i] < extent(map, i))
            return;
        walk->counts[i] = 0;
        walk->at[i] = copy->at[i];
    }
}

/* Pixels follow one another along W, then H, then D, then N; each wraps at the bounding box. */
static void next_pixel(const struct tma_copy *copy, struct tma_walk *walk)
{
    const struct tensormap *map = &copy->map;
    for (unsigned i = 0; i + 2u < map->rank; i++) {
        unsigned dimension = first_of_space(map) + i;
        walk->at[dimension] += map->steps[dimension];
        if (walk->at[dimension] < (int64_t)map->dims[dimension] + 1 + map->upper[i])
            return;
        walk->at[dimension] = map->lower[i];
    }
    walk->at[map->rank - 1] += map->steps[map->rank - 1];
}

/* Which bytes of the row lie in the tensor. Loads clip by element, all others by whole 16 bytes. */
static void clip(const struct tma_copy *copy, bool is_inside, struct tma_row *row)
{
    int64_t first = 0, end = copy->row_bytes;
    if (copy->first) { /* the row runs along dimension 0 */
        int64_t start = copy->at[0] * copy->unit;
        int64_t rest = ((int64_t)copy->map.dims[0] + 1) * copy->unit - start;
        first = start < 0 ? -start : 0;
        if (!copy->is_load)
            rest = (rest + 15) & ~INT64_C(15);
        end = rest < end ? rest : end;
    }
    bool is_empty = !is_inside || end <= first;
    row->first = is_empty ? 0 : (uint32_t)first;
    row->end = is_empty ? 0 : (uint32_t)end;
}

/* The coordinate of the row that the walk has come to. */
static int64_t coordinate(const struct tma_copy *copy, const struct tma_walk *walk,
                          unsigned dimension)
{
    unsigned space = first_of_space(&copy->map), end = space + copy->map.rank - 2u;
    bool has_offset = copy->is_im2col && dimension >= space && dimension < end;
    return walk->at[dimension] + (has_offset ? copy->offsets[dimension - space] : 0);
}

bool tma_walk_next(const struct tma_copy *copy, struct tma_walk *walk, struct tma_row *row)
{
    const struct tensormap *map = &copy->map;
    if (walk->row == copy->row_count)
        return false;
    row->address = map->address;
    row->shared = copy->shared + walk->row * copy->pitch;
    bool is_inside = true;
    for (unsigned i = 0; i < map->rank; i++) {
        int64_t at = coordinate(copy, walk, i);
        is_inside = is_inside && (i < copy->first || (at >= 0 && at <= (int64_t)map->dims[i]));
        row->address += (uint64_t)at * (i ? map->strides[i - 1] : copy->unit);
    }
    clip(copy, is_inside, row);
    walk->row++;
    if (copy->is_im2col)
        next_pixel(copy, walk);
    else
        next_of_box(copy, walk);
    return true;
}
