/*
 * texture_run.c: tex, tld4, txq, suq and istypep, lane by lane.
 */
#include "simt/num_format.h"
#include "simt/texture_inst.h"

#include <stdio.h>

/* Handles ----------------------------------------------------------------------------------------
 */

const uint8_t *texture_host(void *context, uint64_t address, uint32_t bytes)
{
    struct simt_machine *machine = context;
    const uint8_t *host = simt_memory_host(&machine->memory, address, bytes);
    return host ? host : simt_memory_listed(&machine->memory, address, bytes, false);
}

/* The value of the handle operand. A .texref is a variable that holds one: its name, or its address
 * in a register, stands for it. */
static uint64_t handle_of(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct simt_machine *machine = w->block->launch->machine;
    uint64_t handle = SIMT_SLOT(const uint64_t, in->a)[lane] + (uint64_t)in->imm;
    if (handle - machine->memory.base < SIMT_ARENA) {
        const uint8_t *host = texture_host(machine, handle, sizeof(handle));
        handle = 0;
        if (host)
            memcpy(&handle, host, sizeof(handle));
    }
    return handle;
}

static bool wants_surface(enum ptx_op op)
{
    return op == PTX_OP_SULD || op == PTX_OP_SUST || op == PTX_OP_SUST_P || op == PTX_OP_SURED ||
           op == PTX_OP_SURED_P || op == PTX_OP_SUQ;
}

static enum texture_geometry geometry_of(const struct ptx_inst *ptx)
{
    static const struct {
        enum ptx_mod mod;
        enum texture_geometry geometry;
    } all[] = {{PTX_MOD_1D, TEXTURE_1D},      {PTX_MOD_2D, TEXTURE_2D},
               {PTX_MOD_3D, TEXTURE_3D},      {PTX_MOD_A1D, TEXTURE_A1D},
               {PTX_MOD_A2D, TEXTURE_A2D},    {PTX_MOD_CUBE, TEXTURE_CUBE},
               {PTX_MOD_ACUBE, TEXTURE_ACUBE}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (ptx_has(ptx, all[i].mod))
            return all[i].geometry;
    return TEXTURE_2D;
}

/* Does the image have the dimensions that the instruction names? */
static bool fits(const struct simt_texture *texture, const struct ptx_inst *ptx)
{
    static const struct {
        uint8_t dimensions;
        bool layered, cube;
    } wanted[] = {[TEXTURE_1D] = {1, false, false}, [TEXTURE_2D] = {2, false, false},
                  [TEXTURE_3D] = {3, false, false}, [TEXTURE_A1D] = {1, true, false},
                  [TEXTURE_A2D] = {2, true, false}, [TEXTURE_CUBE] = {2, false, true},
                  [TEXTURE_ACUBE] = {2, true, true}};
    enum texture_geometry geometry = geometry_of(ptx);
    enum ptx_op op = ptx->op;
    if (op == PTX_OP_TXQ || op == PTX_OP_TXQ_LEVEL || op == PTX_OP_SUQ)
        return true;
    bool layered = texture->is_layered, cube = texture->is_cube;
    if (texture->is_surface) { /* which take a face for a layer */
        layered |= cube;
        cube = false;
    }
    if (geometry == TEXTURE_1D && texture->dimensions == 2 && texture->levels[0].height == 1)
        return !texture->is_surface && !layered && !cube; /* cudaMallocArray(..., width, 1) */
    return texture->dimensions == wanted[geometry].dimensions &&
           layered == wanted[geometry].layered && cube == wanted[geometry].cube;
}

const struct simt_texture *texture_peek(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    const struct simt_texture *texture =
        simt_texture_find(w->block->launch->machine, handle_of(w, in, lane));
    bool surface = wants_surface(in->ptx->op);
    return texture && texture->state == TEXTURE_LIVE && texture->is_surface == surface &&
                   fits(texture, in->ptx)
               ? texture
               : NULL;
}

static const char *shape_of(const struct simt_texture *texture, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", texture->is_layered ? "layered " : "",
             texture->is_cube           ? "cubemap"
             : texture->dimensions == 1 ? "1D"
             : texture->dimensions == 2 ? "2D"
                                        : "3D",
             texture->is_linear ? " linear memory" : " array");
    return text;
}

const struct simt_texture *texture_of(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    uint64_t handle = handle_of(w, in, lane);
    const struct simt_texture *texture = simt_texture_find(w->block->launch->machine, handle);
    const char *wanted = wants_surface(in->ptx->op) ? "surface" : "texture";
    unsigned long long number = handle;
    char shape[64];
    if (!handle)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the %s handle is 0: no %s is bound", wanted, wanted);
    else if (!texture)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane, "0x%llx is not a %s handle", number,
                   wanted);
    else if (texture->state == TEXTURE_DESTROYED)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "%s object %llu was destroyed before the kernel used it",
                   texture->is_surface ? "surface" : "texture", number);
    else if (texture->state == TEXTURE_WITHOUT_ARRAY)
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane,
                   "the array of %s object %llu was destroyed before the kernel used it", wanted,
                   number);
    else if (texture->is_surface != wants_surface(in->ptx->op))
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane, "handle %llu is a %s, not a %s",
                   number, texture->is_surface ? "surface" : "texture", wanted);
    else if (!fits(texture, in->ptx))
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "%s object %llu is a %s; the instruction takes another kind", wanted, number,
                   shape_of(texture, shape, sizeof(shape)));
    else
        return texture;
    return NULL;
}

/* Fetches ----------------------------------------------------------------------------------------
 */

static uint32_t word(struct simt_warp *w, uint32_t slot, int lane)
{
    return SIMT_SLOT(const uint32_t, slot)[lane];
}

static unsigned axes_of(enum texture_geometry geometry)
{
    switch (geometry) {
    case TEXTURE_1D:
    case TEXTURE_A1D:
        return 1;
    case TEXTURE_2D:
    case TEXTURE_A2D:
        return 2;
    default:
        return 3;
    }
}

/* The vectors after the coordinates: gradients, then offsets. */
static void read_vectors(struct simt_warp *w, const struct simt_inst *in, int lane, uint32_t next,
                         struct texture_request *request)
{
    const struct ptx_inst *ptx = in->ptx;
    unsigned gradients = ptx->op == PTX_OP_TEX_GRAD ? 2 : 0;
    for (unsigned k = 2; k < ptx->operand_count; k++) {
        const struct ptx_operand *operand = &ptx->operands[k];
        if (operand->kind != PTX_OPERAND_VECTOR)
            continue;
        for (uint32_t i = 0; i < operand->item_count && i < 3; i++) {
            uint32_t bits = word(w, in->list[next + i], lane);
            if (gradients)
                request->gradient[2 - gradients][i] = num_f32_from(bits);
            else
                request->offset[i] = (int32_t)bits;
        }
        gradients -= gradients > 0;
        next += operand->item_count;
    }
}

void texture_request_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                        struct texture_request *request)
{
    const struct ptx_inst *ptx = in->ptx;
    uint32_t first = ptx->operands[0].item_count;
    *request = (struct texture_request){
        .geometry = geometry_of(ptx),
        .at[1] = 0.5f, /* the middle of the row, where a 2D image of one row is fetched as 1D */
        .is_gather = ptx->op == PTX_OP_TLD4,
        .wants_f16 = ptx->op == PTX_OP_TEX_F16 || ptx->op == PTX_OP_TEX_F16X2,
        .is_integer = ptx->op != PTX_OP_TLD4 && ptx->types[1] == PTX_S32};
    static const enum ptx_mod components[] = {PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A};
    for (unsigned k = 0; request->is_gather && k < 4; k++)
        if (ptx_has(ptx, components[k]))
            request->component = k;
    bool is_layered = request->geometry == TEXTURE_A1D || request->geometry == TEXTURE_A2D ||
                      request->geometry == TEXTURE_ACUBE;
    if (is_layered)
        request->layer = word(w, in->list[first], lane);
    for (unsigned k = 0; k < axes_of(request->geometry); k++) {
        uint32_t bits = word(w, in->list[first + is_layered + k], lane);
        request->at[k] = num_f32_from(bits);
        request->whole[k] = (int32_t)bits;
    }
    if (ptx->op == PTX_OP_TEX_LEVEL) {
        uint32_t bits = word(w, in->b, lane);
        request->lod_mode = TEXTURE_LOD_LEVEL;
        request->lod = request->is_integer ? (float)(int32_t)bits : num_f32_from(bits);
    } else if (ptx->op == PTX_OP_TEX_GRAD) {
        request->lod_mode = TEXTURE_LOD_GRADIENT;
    }
    read_vectors(w, in, lane, first + ptx->operands[1].item_count, request);
}

static uint32_t half_of(uint32_t bits)
{
    return (uint32_t)num_from_f64(&num_f16_format, (double)num_f32_from(bits), NUM_RN);
}

static void store_result(struct simt_warp *w, const struct simt_inst *in, int lane,
                         const uint32_t result[4])
{
    switch (in->ptx->op) {
    case PTX_OP_TEX_F16X2:
        for (unsigned k = 0; k < 2; k++)
            SIMT_SLOT(uint32_t, in->list[k])
        [lane] = half_of(result[2 * k]) | half_of(result[2 * k + 1]) << 16;
        break;
    case PTX_OP_TEX_F16:
        for (unsigned k = 0; k < 4; k++)
            SIMT_SLOT(uint16_t, in->list[k])[lane] = (uint16_t)half_of(result[k]);
        break;
    default:
        for (unsigned k = 0; k < 4; k++)
            SIMT_SLOT(uint32_t, in->list[k])[lane] = result[k];
    }
}

const struct simt_inst *texture_run_fetch(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_machine *machine = w->block->launch->machine;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *texture = texture_of(w, in, lane);
        struct texture_request request;
        uint32_t result[4];
        uint64_t missing;
        if (!texture)
            return NULL;
        texture_request_of(w, in, lane, &request);
        if (!texture_fetch(texture, &request, texture_host, machine, NULL, result, &missing))
            return simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane,
                              "the texture's memory at 0x%llx was freed",
                              (unsigned long long)missing);
        store_result(w, in, lane, result);
    }
    if (in->ptx->operands[0].pair != PTX_NO_REG) /* nothing is sparse here: all texels are there */
        *SIMT_SLOT(uint32_t, in->d2) |= w->mask;
    return in + 1;
}

/* Queries ----------------------------------------------------------------------------------------
 */

/* The depth of a layered texture is how many layers it has; of a cubemap, how many cubes. */
static uint32_t query(const struct simt_texture *texture, const struct ptx_inst *ptx,
                      uint32_t level_number)
{
    if (level_number >= texture->level_count)
        return 0;
    const struct texture_level *level = &texture->levels[level_number];
    if (ptx_has(ptx, PTX_MOD_WIDTH))
        return level->width;
    bool is_row = texture->is_surface && texture->is_layered && texture->dimensions == 1;
    if (ptx_has(ptx, PTX_MOD_HEIGHT)) /* of a layered row of a surface: its layers */
        return is_row ? texture->layers : texture->dimensions > 1 ? level->height : 0;
    if (texture->is_layered && !is_row)
        return texture->layers / (texture->is_cube ? 6 : 1);
    return texture->dimensions > 2 ? level->depth : 0;
}

const struct simt_inst *texture_run_query(struct simt_warp *w, const struct simt_inst *in)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *texture = texture_of(w, in, lane);
        if (!texture)
            return NULL;
        uint32_t level = in->ptx->op == PTX_OP_TXQ_LEVEL ? word(w, in->b, lane) : 0;
        SIMT_SLOT(uint32_t, in->d)[lane] = query(texture, in->ptx, level);
    }
    return in + 1;
}

const struct simt_inst *texture_run_is_type(struct simt_warp *w, const struct simt_inst *in)
{
    uint32_t yes = 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct ptx_var *var = in->ptx->operands[1].var;
        if (var &&
            var->type == in->ptx->types[0]) /* of a handle in a register a GPU knows nothing */
            yes |= 1u << lane;
    }
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    *d = (*d & ~w->mask) | yes;
    return in + 1;
}
