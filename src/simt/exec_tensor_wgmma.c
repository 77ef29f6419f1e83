/*
 * exec_tensor_wgmma.c: wgmma.mma_async: a warp's 16 rows of D = A * B + D.
 * Matrices in shared memory are taken piece by piece into images (tensor_wide.h), which look like
 * the registers of a fragment; from there on, A from registers and from memory are the same. Floats
 * are added up by exec_tensor_wide.c, integers and bits by exec_tensor_int.c, 8 columns at a time.
 */
#include "simt/core.h"
#include "simt/tensor_wide.h"
#include "simt/warpgroup.h"

/* One instruction, and what its operands are worth. */
struct product {
    struct tensor_shape shape;
    bool sparse, in_registers, negate_a, negate_b, transpose_a, transpose_b;
    bool add; /* D = A * B + D; else D = A * B */
    unsigned d_count, a_pieces, b_pieces;
    uint64_t a_descriptor, b_descriptor;
    const uint32_t *metadata; /* [lane] */
    unsigned selector;
};

/* A transposed image: 8 rows of 8 numbers of 16 bits. */
static void transpose(tensor_image image)
{
    uint16_t from[8][8], to[8][8];
    memcpy(from, image, sizeof(from));
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            to[j][i] = from[i][j];
    memcpy(image, to, sizeof(to));
}

static __attribute__((noinline)) void raise_outside(struct simt_warp *w, const struct simt_inst *in,
                                                    const struct wgmma_matrix *m, const char *name)
{
    simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, 0,
               "%s: matrix %s reaches beyond the block's %u bytes of shared memory (descriptor: "
               "start 0x%x, leading offset %u, stride offset %u, swizzle %u bytes)",
               in->ptx->text, name, w->block->shared_bytes, m->start, m->leading, m->stride,
               m->swizzle ? 16u << m->swizzle : 0);
}

/* Lines line .. line + 7, bytes 16 * piece .. of each. False after raising a fault. */
static inline bool take_image(struct simt_warp *w, const struct simt_inst *in,
                              const struct wgmma_matrix *m, unsigned line, unsigned piece,
                              const char *name, tensor_image image)
{
    const uint8_t *shared = w->block->shared;
    uint32_t limit = w->block->shared_bytes, addresses[8];
    bool outside = false;
    for (unsigned i = 0; i < 8; i++) {
        addresses[i] =
            m->by_line ? wgmma_address(m, line + i, piece) : wgmma_address(m, line, 8 * piece + i);
        outside |= addresses[i] + 16 > limit;
    }
    if (outside) {
        raise_outside(w, in, m, name);
        return false;
    }
    for (unsigned i = 0; i < 8; i++)
        memcpy(image + 16 * i, shared + addresses[i], 16);
    if (!m->by_line)
        transpose(image);
    return true;
}

/* A value that must be the same in all lanes. */
static bool take_uniform(struct simt_warp *w, const struct simt_inst *in, uint32_t slot,
                         const char *name, uint64_t *value)
{
    const uint64_t *lanes = SIMT_SLOT(const uint64_t, slot);
    for (int i = 1; i < SIMT_LANES; i++)
        if (lanes[i] != lanes[0]) {
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, i,
                       "%s: the descriptor of %s differs between lanes: 0x%llx here, 0x%llx in "
                       "lane 0",
                       in->ptx->text, name, (unsigned long long)lanes[i],
                       (unsigned long long)lanes[0]);
            return false;
        }
    *value = lanes[0];
    return true;
}

static bool read_operands(struct simt_warp *w, const struct simt_inst *in, struct product *p)
{
    const struct ptx_inst *ptx = in->ptx;
    bool sparse = ptx_is_sparse_wgmma(ptx->op);
    unsigned first = sparse ? 6 : 4, count = ptx->operand_count;
    *p = (struct product){.shape = tensor_shape_of(ptx),
                          .sparse = sparse,
                          .in_registers = ptx->operands[1].kind == PTX_OPERAND_VECTOR,
                          .d_count = tensor_register_count(ptx, 0),
                          .a_pieces = 2,
                          .b_pieces = sparse ? 4 : 2};
    if (count > first) {
        p->negate_a = ptx->operands[first].imm < 0;
        p->negate_b = ptx->operands[first + 1].imm < 0;
    }
    if (count > first + 2) {
        p->transpose_a = !p->in_registers && ptx->operands[first + 2].imm;
        p->transpose_b = ptx->operands[count - 1].imm;
    }
    uint32_t predicate = simt_predicate(w, sparse ? in->e : in->b);
    if (predicate != 0 && predicate != SIMT_ALL) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, __builtin_ctz(~predicate),
                   "%s: scale-d differs between lanes", ptx->text);
        return false;
    }
    p->add = predicate != 0;
    if (sparse) {
        p->metadata = SIMT_SLOT(const uint32_t, in->b);
        p->selector = (unsigned)ptx->operands[4].imm;
    }
    return take_uniform(w, in, in->a, "B", &p->b_descriptor) &&
           (p->in_registers || take_uniform(w, in, in->list[p->d_count], "A", &p->a_descriptor));
}

/* The warp's 16 rows of A: [piece][block]; of a sparse A with its zeros. */
static bool take_a(struct simt_warp *w, const struct simt_inst *in, const struct product *p,
                   tensor_image (*images)[2], unsigned *pieces, uint64_t stored[16])
{
    const struct wgmma_matrix m = wgmma_matrix_of(p->a_descriptor, !p->transpose_a);
    unsigned row = w->index % SIMT_WARPGROUP * 16;
    tensor_image packed[2][2];
    tensor_image(*to)[2] = p->sparse ? packed : images;
    for (unsigned i = 0; i < 4; i++) {
        unsigned piece = i / 2, block = i % 2;
        if (p->in_registers)
            memcpy(to[piece][block], w->regs + in->list[p->d_count + i], sizeof(tensor_image));
        else if (!take_image(w, in, &m, row + 8 * block, piece, "A", to[piece][block]))
            return false;
    }
    *pieces = p->a_pieces;
    if (!p->sparse)
        return true;
    *pieces = 2 * p->a_pieces;
    return SIMT_NAME(tensor_spread)(w, in, in->ptx->types[1], (const tensor_image(*)[2])packed,
                                    p->a_pieces, p->metadata, p->selector, images, stored);
}

static const struct simt_inst *run_wide(struct simt_warp *w, const struct simt_inst *in)
{
    struct product p;
    if (!simt_warpgroup_enter(w, in) || !read_operands(w, in, &p))
        return NULL;
    enum ptx_type a_type = in->ptx->types[1], b_type = in->ptx->types[2];
    struct tensor_wide wide;
    tensor_image a[WIDE_MAX_IMAGES][2], b[WIDE_MAX_IMAGES];
    unsigned pieces;
    uint64_t stored[16];
    if (!take_a(w, in, &p, a, &pieces, stored))
        return NULL;
    SIMT_NAME(tensor_wide_start)
    (&wide, &tensor_wgmma_models[tensor_factor_of(a_type)], a_type, b_type,
     in->ptx->types[0] == PTX_F16, p.shape.k);
    wide.sparse = p.sparse;
    if (p.sparse)
        memcpy(wide.stored, stored, sizeof(stored));
    SIMT_NAME(tensor_wide_a)(&wide, a_type, (const tensor_image(*)[2])a, pieces, p.negate_a);
    const struct wgmma_matrix m = wgmma_matrix_of(p.b_descriptor, !p.transpose_b);
    unsigned registers = wide.half ? 2 : 4; /* of accumulators, for 8 columns */
    for (unsigned group = 0; group < p.shape.n / 8; group++) {
        for (unsigned i = 0; i < p.b_pieces; i++)
            if (!take_image(w, in, &m, 8 * group, i, "B", b[i]))
                return NULL;
        SIMT_NAME(tensor_wide_b)(&wide, b_type, b, p.b_pieces, p.negate_b);
        uint8_t *d[4];
        for (unsigned i = 0; i < registers; i++)
            d[i] = w->regs + in->list[registers * group + i];
        SIMT_NAME(tensor_wide_add)(&wide, p.add ? (const uint8_t *const *)d : NULL, d);
    }
    return in + 1;
}

static const _Alignas(64) uint8_t zeros[128];

/* f16, bf16 and tf32: tiles of 8 columns as mma.sync has them, which share A. */
static const struct simt_inst *run_tiles(struct simt_warp *w, const struct simt_inst *in)
{
    struct product p;
    if (!simt_warpgroup_enter(w, in) || !read_operands(w, in, &p))
        return NULL;
    _Alignas(64) tensor_image a[WIDE_MAX_IMAGES][2], b[WIDE_MAX_IMAGES];
    unsigned pieces;
    if (!take_a(w, in, &p, a, &pieces, NULL))
        return NULL;
    enum ptx_type type = in->ptx->types[1];
    bool half = in->ptx->types[0] == PTX_F16;
    const struct tensor_float_kind kind = {16, (uint8_t)p.shape.k, type, type, half, half};
    struct tensor_sum sum;
    struct tensor_fragments f;
    for (unsigned i = 0; i < pieces; i++) {
        for (unsigned block = 0; block < 2; block++) {
            if (p.negate_a)
                tensor_negate(a[i][block], type);
            f.a[2 * i + block] = a[i][block];
        }
        f.b[i] = b[i];
    }
    SIMT_NAME(tensor_start)(&sum, &tensor_wgmma_models[tensor_factor_of(type)], &kind);
    SIMT_NAME(tensor_unpack)(&sum, &kind, &f, TENSOR_A);
    const struct wgmma_matrix m = wgmma_matrix_of(p.b_descriptor, !p.transpose_b);
    unsigned registers = half ? 2 : 4; /* of accumulators, for 8 columns */
    for (unsigned group = 0; group < p.shape.n / 8; group++) {
        for (unsigned i = 0; i < p.b_pieces; i++) {
            if (!take_image(w, in, &m, 8 * group, i, "B", b[i]))
                return NULL;
            if (p.negate_b)
                tensor_negate(b[i], type);
        }
        for (unsigned i = 0; i < registers; i++) {
            f.d[i] = w->regs + in->list[registers * group + i];
            f.c[i] = p.add ? f.d[i] : zeros;
        }
        SIMT_NAME(tensor_unpack)(&sum, &kind, &f, TENSOR_B);
        SIMT_NAME(tensor_add)(&sum, &f);
    }
    return in + 1;
}

static const struct simt_inst *run_whole(struct simt_warp *w, const struct simt_inst *in)
{
    struct product p;
    if (!simt_warpgroup_enter(w, in) || !read_operands(w, in, &p))
        return NULL;
    _Alignas(64) tensor_image a[WIDE_MAX_IMAGES][2], b[WIDE_MAX_IMAGES];
    unsigned pieces;
    uint64_t stored[16];
    if (!take_a(w, in, &p, a, &pieces, stored))
        return NULL;
    const struct wgmma_matrix m = wgmma_matrix_of(p.b_descriptor, true);
    const struct tensor_int_kind kind = {
        .rows = 16,
        .bytes = (uint8_t)(16 * pieces),
        .a_type = in->ptx->types[1],
        .b_type = in->ptx->types[2],
        .saturate = ptx_has(in->ptx, PTX_MOD_SATFINITE),
        .is_and = in->ptx->op == PTX_OP_WGMMA_BIT,
    };
    struct tensor_fragments f;
    for (unsigned i = 0; i < pieces; i++) {
        f.a[2 * i] = a[i][0];
        f.a[2 * i + 1] = a[i][1];
        f.b[i] = b[i];
    }
    for (unsigned group = 0; group < p.shape.n / 8; group++) {
        for (unsigned i = 0; i < p.b_pieces; i++)
            if (!take_image(w, in, &m, 8 * group, i, "B", b[i]))
                return NULL;
        for (unsigned i = 0; i < 4; i++) {
            f.d[i] = w->regs + in->list[4 * group + i];
            f.c[i] = p.add ? f.d[i] : zeros;
        }
        SIMT_NAME(tensor_int_tile)(&kind, &f);
    }
    return in + 1;
}

simt_body *SIMT_NAME(tensor_select_wgmma)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    if (ptx->types[0] == PTX_S32)
        return run_whole;
    /* A warpgroup's f8 has a sum of its own, and of a sparse A only some products count. */
    bool wide = ptx_is_sparse_wgmma(ptx->op) || tensor_factor_of(ptx->types[1]) == TENSOR_F8;
    return wide ? run_wide : run_tiles;
}
