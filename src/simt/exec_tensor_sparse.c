/*
 * exec_tensor_sparse.c: mma.sp, and what sparse warpgroup products share with it.
 * Of each 4 units of a row of A, 2 are stored, and a nibble of metadata says which: two 2-bit
 * indices, the first unit's in the low bits. A unit is 16 bits (f16, bf16; tf32 is two of them that
 * go together, so only indices 0 1 and 2 3 make sense) or 8 bits (f8, s8, u8, and pairs of s4, u4).
 * Which lane has a row's metadata, of the four lanes that hold the row and the row 8 below it:
 *   16-bit units  lane i of those that the selector names: k's 16 * i .. of both rows, the upper
 *                 row's in its low half, the lower row's in its high half
 *   8-bit units   lanes 0 and 2: the upper row, k 0 .. 31 and 32 .. 63; 1 and 3: the lower row. A
 *                 shape of half the length has lanes 0 and 1, or 2 and 3, as the selector says
 * A is spread out to its full length; products with its zeros change nothing and do not count.
 */
#include "simt/core.h"
#include "simt/tensor_wide.h"

/* The nibble of 4 units of a row, from their number on. */
static unsigned nibble_of(const uint32_t *metadata, unsigned unit_bytes, unsigned pieces,
                          unsigned selector, unsigned row, unsigned group)
{
    unsigned quad = row % 8 * 4, lower = row / 8;
    if (unit_bytes == 2) {
        unsigned lane = pieces == 1 ? selector : 2 * (selector % 2) + group / 4;
        return metadata[quad + lane] >> (16 * lower + 4 * (group % 4)) & 15;
    }
    unsigned lane = pieces == 1 ? 2 * selector + lower : 2 * (group / 8) + lower;
    return metadata[quad + lane] >> (4 * (group % 8)) & 15;
}

/* Two units of from, to where the nibble says in 4 units of to. False: it makes no sense. */
static bool spread_four(unsigned nibble, unsigned unit_bytes, bool in_pairs, const uint8_t *from,
                        uint8_t *to)
{
    unsigned first = nibble & 3, second = nibble >> 2;
    memset(to, 0, 4 * unit_bytes);
    if (first == second || (in_pairs && nibble != 4 && nibble != 14)) {
        for (unsigned i = 0; i < 2 * unit_bytes; i++)
            if (from[i])
                return false;
        return true; /* zeros, wherever they are */
    }
    memcpy(to + first * unit_bytes, from, unit_bytes);
    memcpy(to + second * unit_bytes, from + unit_bytes, unit_bytes);
    return true;
}

bool SIMT_NAME(tensor_spread)(struct simt_warp *w, const struct simt_inst *in, enum ptx_type type,
                              const tensor_image (*packed)[2], unsigned pieces,
                              const uint32_t *metadata, unsigned selector, tensor_image (*to)[2],
                              uint64_t stored[16])
{
    unsigned unit_bytes = ptx_type_bits(type) >= 16 ? 2 : 1;
    unsigned per_piece = 16 / (2 * unit_bytes); /* nibbles of 16 stored bytes */
    bool ordered = ptx_has(in->ptx, PTX_MOD_SP_ORDERED_METADATA);
    unsigned per_group = type == PTX_TF32 ? 2 : 4; /* numbers; of s4 twice as many */
    for (unsigned row = 0; row < 16; row++) {
        stored[row] = 0;
        for (unsigned group = 0; group < per_piece * pieces; group++) {
            unsigned nibble = nibble_of(metadata, unit_bytes, pieces, selector, row, group);
            const uint8_t *from = packed[group / per_piece][row / 8] + row % 8 * 16 +
                                  group % per_piece * 2 * unit_bytes;
            unsigned at = group * 4 * unit_bytes;
            uint8_t *into = to[at / 16][row / 8] + row % 8 * 16 + at % 16;
            unsigned two = 1u << (nibble & 3) | 1u << (nibble >> 2);
            if (type == PTX_TF32)
                two = nibble == 14 ? 2 : 1;
            stored[row] |= group < 16 ? (uint64_t)two << (per_group * group) : 0;
            bool falls = ordered && (nibble & 3) > nibble >> 2;
            if (spread_four(nibble, unit_bytes, type == PTX_TF32, from, into) && !falls)
                continue;
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, (int)(row % 8 * 4),
                       "%s: the metadata of row %u, elements %u and on, is 0x%x: its indices must "
                       "be %s",
                       in->ptx->text, row, group * 32 * unit_bytes / ptx_type_bits(type), nibble,
                       type == PTX_TF32 ? "0x4 or 0xe"
                       : ordered        ? "different, and in ascending order"
                                        : "different");
            return false;
        }
    }
    return true;
}

/* mma.sp ----------------------------------------------------------------------------------------
 */

struct sparse {
    tensor_image a[WIDE_MAX_IMAGES][2], b[WIDE_MAX_IMAGES];
    unsigned pieces; /* of A with its zeros, and of B */
    uint64_t stored[16];
    const uint8_t *c[4];
    uint8_t *d[4];
};

static bool take_fragments(struct simt_warp *w, const struct simt_inst *in, struct sparse *s)
{
    const struct ptx_inst *ptx = in->ptx;
    unsigned d_count = tensor_register_count(ptx, 0), pieces = tensor_register_count(ptx, 1) / 2;
    const uint32_t *slot = in->list;
    tensor_image packed[2][2];
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return false;
    s->pieces = 2 * pieces;
    for (unsigned i = 0; i < d_count; i++)
        s->d[i] = w->regs + *slot++;
    for (unsigned i = 0; i < 2 * pieces; i++)
        memcpy(packed[i / 2][i % 2], w->regs + *slot++, sizeof(tensor_image));
    for (unsigned i = 0; i < s->pieces; i++)
        memcpy(s->b[i], w->regs + *slot++, sizeof(tensor_image));
    for (unsigned i = 0; i < d_count; i++)
        s->c[i] = w->regs + *slot++;
    return SIMT_NAME(tensor_spread)(w, in, ptx->types[1], (const tensor_image(*)[2])packed, pieces,
                                    SIMT_SLOT(const uint32_t, in->a),
                                    (unsigned)ptx->operands[5].imm, s->a, s->stored);
}

/* tensor_model.h, c_last. d: the sums, as f32. */
static void add_last(const uint8_t *const *c, uint8_t *const *d)
{
    for (unsigned i = 0; i < 4; i++)
        for (unsigned lane = 0; lane < SIMT_LANES; lane++) {
            float x, y;
            memcpy(&x, c[i] + 4 * lane, 4);
            memcpy(&y, d[i] + 4 * lane, 4);
            y += x;
            if (__builtin_isnan(y))
                y = num_f32_from(0x7fffffff);
            memcpy(d[i] + 4 * lane, &y, 4);
        }
}

/* A part of A and B as long as the GPU adds up at once; half of A's numbers are zeros. */
SIMT_BODY(run_float)
{
    const struct gpu_info *gpu = simt_warp_gpu(w);
    enum ptx_type a_type = in->ptx->types[1], b_type = in->ptx->types[2];
    const struct tensor_model *model = tensor_model_for(gpu->cc_major, gpu->cc_minor, a_type);
    bool half = in->ptx->types[0] == PTX_F16;
    struct sparse s;
    struct tensor_wide wide;
    if (!take_fragments(w, in, &s))
        return NULL;
    unsigned per_piece = 128 / ptx_type_bits(a_type), step = 2u * model->chunk / per_piece;
    step = step < 1 ? 1 : step < s.pieces ? step : s.pieces;
    uint8_t saved[4][128];
    const uint8_t *const last[4] = {saved[0], saved[1], saved[2], saved[3]};
    for (unsigned i = 0; model->c_last && i < 4; i++)
        memcpy(saved[i], s.c[i], sizeof(saved[i])); /* d may be in the same registers */
    for (unsigned i = 0; i < s.pieces; i += step) {
        const uint8_t *const *c = i ? (const uint8_t *const *)s.d : model->c_last ? NULL : s.c;
        SIMT_NAME(tensor_wide_start)(&wide, model, a_type, b_type, half, step * per_piece);
        wide.sparse = true;
        for (unsigned row = 0; row < 16; row++)
            wide.stored[row] = s.stored[row] >> (i * per_piece);
        SIMT_NAME(tensor_wide_a)(&wide, a_type, (const tensor_image(*)[2])(s.a + i), step, false);
        SIMT_NAME(tensor_wide_b)(&wide, b_type, s.b + i, step, false);
        SIMT_NAME(tensor_wide_add)(&wide, c, s.d);
    }
    if (model->c_last)
        add_last(last, s.d);
    return in + 1;
}

SIMT_BODY(run_int)
{
    struct sparse s;
    if (!take_fragments(w, in, &s))
        return NULL;
    const struct tensor_int_kind kind = {.rows = 16,
                                         .bytes = (uint8_t)(16 * s.pieces),
                                         .a_type = in->ptx->types[1],
                                         .b_type = in->ptx->types[2],
                                         .saturate = ptx_has(in->ptx, PTX_MOD_SATFINITE)};
    struct tensor_fragments f;
    for (unsigned i = 0; i < s.pieces; i++) {
        f.a[2 * i] = s.a[i][0];
        f.a[2 * i + 1] = s.a[i][1];
        f.b[i] = s.b[i];
    }
    for (unsigned i = 0; i < 4; i++) {
        f.c[i] = s.c[i];
        f.d[i] = s.d[i];
    }
    SIMT_NAME(tensor_int_tile)(&kind, &f);
    return in + 1;
}

simt_body *SIMT_NAME(tensor_select_sparse)(const struct simt_operands *operands)
{
    return operands->ptx->op == PTX_OP_MMA_SP_INT ? run_int : run_float;
}
