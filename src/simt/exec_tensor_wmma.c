/*
 * exec_tensor_wmma.c: wmma.load, wmma.store and wmma.mma.
 * PTX does not say where a fragment's elements lie; these are the places that sm_80 and later use,
 * whether memory is row or column major (m16n16: as measured by wmma_extension; the others follow
 * the same rule). A fragment is made of those of mma.sync (tensor.h):
 *   m16n16  two products m16n8, for columns 0-7 and 8-15: B and C list the registers of the first,
 *           then those of the second
 *   m32n8   two products m16n8, for rows 0-15 and 16-31: A and C list the two in order
 *   m8n32   the transposed product, D^T = B^T * A^T: what m32n8 says of A holds for B
 *   m8n8    one product
 * An f16 A or B always has 8 registers: those that it needs, again and again.
 * p and the stride are taken from the first lane; PTX wants them equal in all lanes.
 */
#include "simt/tensor.h"

#include <fenv.h>

enum { MAX_LINES = 32 }; /* rows of A, or columns of B */

struct operand_shape { /* A or B */
    unsigned lines, k;
    unsigned bits;       /* of an element */
    unsigned line_bytes; /* of a line in all registers: 16 or 32 */
    unsigned pieces;     /* registers along k */
    bool b_of_16;        /* B of m16n16: the order of registers is another */
};

/* Which register holds a piece of a block of 8 lines. */
static unsigned operand_register(const struct operand_shape *s, unsigned block, unsigned piece)
{
    if (s->b_of_16)
        return block * s->pieces + piece;
    unsigned in_group = s->lines == 8 ? 1 : 2; /* blocks of one product */
    return (block / in_group * s->pieces + piece) * in_group + block % in_group;
}

static struct operand_shape operand_shape_of(struct tensor_shape shape, enum ptx_type type,
                                             bool is_b)
{
    struct operand_shape s;
    s.lines = is_b ? shape.n : shape.m;
    s.k = shape.k;
    s.bits = ptx_type_bits(type);
    s.line_bytes = s.k * s.bits / 8;
    s.pieces = type == PTX_F64 ? 1 : s.line_bytes / 16;
    s.b_of_16 = is_b && s.lines == 16;
    return s;
}

static unsigned operand_registers(const struct operand_shape *s, enum ptx_type type)
{
    return type == PTX_F16 ? 8 : s->lines / 8 * s->pieces;
}

static bool is_transposed(struct tensor_shape shape)
{
    return shape.m == 8 && shape.n == 32;
}

static unsigned accumulator_registers(struct tensor_shape shape, enum ptx_type type)
{
    return shape.m * shape.n / 32 / (type == PTX_F16 ? 2 : 1);
}

/* Register and byte in it of element (m, n) of an accumulator. */
static unsigned accumulator_place(struct tensor_shape shape, unsigned bytes, unsigned m, unsigned n,
                                  unsigned *at)
{
    bool transposed = is_transposed(shape);
    unsigned lines = transposed ? shape.n : shape.m;
    unsigned line = transposed ? n : m, other = transposed ? m : n;
    unsigned lane = line % 8 * 4 + other % 8 / 2;
    if (bytes == 2) {
        *at = 4 * lane + 2 * (other % 2);
        return other / 8 * (lines / 8) + line / 8;
    }
    *at = bytes * lane;
    return other / 8 * (lines / 4) + line / 8 * 2 + other % 2;
}

/* Memory ----------------------------------------------------------------------------------------
 */

struct memory_rows {
    uint64_t address;
    uint64_t stride; /* bytes from one row to the next */
    unsigned rows, bytes;
    unsigned least; /* the fewest bytes that a GPU reads at once */
    enum ptx_space space;
};

/* Copies rows to or from buffer, in pieces as large as their alignment lets them be. */
static bool copy_rows(struct simt_warp *w, const struct simt_inst *in, const struct memory_rows *r,
                      uint8_t *buffer, bool is_store)
{
    uint64_t odd = r->address | r->stride | r->bytes | 16;
    unsigned piece = (unsigned)(odd & -odd);
    piece = piece < r->least ? r->least : piece;
    int lane = __builtin_ctz(w->mask | 1u << 31);
    for (unsigned row = 0; row < r->rows; row++) {
        for (unsigned at = 0; at < r->bytes; at += piece) {
            uint64_t address = r->address + row * r->stride + at;
            uint8_t *memory = simt_translate(w, in, r->space, address, piece, lane, is_store);
            if (!memory)
                return false;
            if (is_store)
                memcpy(memory, buffer + row * r->bytes + at, piece);
            else
                memcpy(buffer + row * r->bytes + at, memory, piece);
        }
    }
    return true;
}

/* p is in a, the stride (in elements) in b; without one, rows follow each other. */
static struct memory_rows memory_rows_of(struct simt_warp *w, const struct simt_inst *in,
                                         unsigned rows, unsigned elements, unsigned element_bits)
{
    int lane = __builtin_ctz(w->mask | 1u << 31);
    bool has_stride = in->ptx->operand_count > 2;
    uint64_t stride = has_stride ? SIMT_SLOT(const uint32_t, in->b)[lane] : elements;
    return (struct memory_rows){
        .address = tensor_address(w, in, lane),
        .stride = stride * element_bits / 8,
        .rows = rows,
        .bytes = elements * element_bits / 8,
        .least = element_bits < 8 ? 4 : element_bits / 8,
        .space = tensor_space(in->ptx),
    };
}

static const struct simt_inst *load_operand(struct simt_warp *w, const struct simt_inst *in,
                                            bool is_b)
{
    enum ptx_type type = in->ptx->types[0];
    struct operand_shape s = operand_shape_of(tensor_shape_of(in->ptx), type, is_b);
    bool along_k = ptx_has(in->ptx, PTX_MOD_ROW) != is_b; /* a line is contiguous in memory */
    uint8_t memory[MAX_LINES * 32], lines[MAX_LINES * 32];
    struct memory_rows rows =
        memory_rows_of(w, in, along_k ? s.lines : s.k, along_k ? s.k : s.lines, s.bits);
    if (along_k && rows.least < 4)
        rows.least = 4;
    if (!copy_rows(w, in, &rows, along_k ? lines : memory, false))
        return NULL;
    if (!along_k) {
        unsigned size = s.bits / 8;
        for (unsigned k = 0; k < s.k; k++) {
            for (unsigned line = 0; line < s.lines; line++)
                memcpy(lines + (line * s.k + k) * size, memory + (k * s.lines + line) * size, size);
        }
    }
    unsigned needed = s.lines / 8 * s.pieces, count = operand_registers(&s, type);
    unsigned piece_bytes = s.line_bytes / s.pieces;
    for (unsigned line = 0; line < s.lines; line++) {
        for (unsigned piece = 0; piece < s.pieces; piece++) {
            const uint8_t *from = lines + line * s.line_bytes + piece * piece_bytes;
            for (unsigned r = operand_register(&s, line / 8, piece); r < count; r += needed)
                memcpy(w->regs + in->list[r] + piece_bytes * (line % 8), from, piece_bytes);
        }
    }
    return in + 1;
}

/* Accumulators whose lines are contiguous in memory too: 8 of a line are in one register (f16) or
 * take turns in two. */
static void move_lines(struct simt_warp *w, const struct simt_inst *in, unsigned lines,
                       unsigned elements, unsigned size, uint8_t *buffer, bool is_store)
{
    for (unsigned line = 0; line < lines; line++) {
        for (unsigned block = 0; block < elements / 8; block++, buffer += 8 * size) {
            unsigned per_block = lines / (size == 2 ? 8 : 4);
            const uint32_t *slot = in->list + block * per_block + line / 8 * (size == 2 ? 1 : 2);
            if (size == 2) {
                uint8_t *reg = w->regs + slot[0] + 16 * (line % 8);
                memcpy(is_store ? buffer : reg, is_store ? reg : buffer, 16);
                continue;
            }
            for (unsigned i = 0; i < 8; i++) {
                uint8_t *reg = w->regs + slot[i % 2] + size * (line % 8 * 4 + i / 2);
                uint8_t *element = buffer + i * size;
                memcpy(is_store ? element : reg, is_store ? reg : element, size == 4 ? 4 : 8);
            }
        }
    }
}

static const struct simt_inst *move_accumulator(struct simt_warp *w, const struct simt_inst *in,
                                                bool is_store)
{
    struct tensor_shape shape = tensor_shape_of(in->ptx);
    unsigned size = ptx_type_bits(in->ptx->types[0]) / 8;
    bool row_major = ptx_has(in->ptx, PTX_MOD_ROW);
    uint8_t buffer[256 * 8];
    unsigned rows = row_major ? shape.m : shape.n, elements = row_major ? shape.n : shape.m;
    struct memory_rows memory = memory_rows_of(w, in, rows, elements, size * 8);
    if (!is_store && !copy_rows(w, in, &memory, buffer, false))
        return NULL;
    if (row_major != is_transposed(shape)) {
        move_lines(w, in, rows, elements, size, buffer, is_store);
    } else {
        for (unsigned i = 0; i < rows * elements; i++) {
            unsigned at, row = i / elements, column = i % elements;
            unsigned r = accumulator_place(shape, size, row_major ? row : column,
                                           row_major ? column : row, &at);
            uint8_t *reg = w->regs + in->list[r] + at, *element = buffer + i * size;
            memcpy(is_store ? element : reg, is_store ? reg : element, size);
        }
    }
    if (is_store && !copy_rows(w, in, &memory, buffer, true))
        return NULL;
    return in + 1;
}

SIMT_BODY(wmma_load)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    if (ptx_has(in->ptx, PTX_MOD_C))
        return move_accumulator(w, in, false);
    return load_operand(w, in, ptx_has(in->ptx, PTX_MOD_B));
}

SIMT_BODY(wmma_store)
{
    return simt_wait_lanes(w, in, SIMT_ALL) ? move_accumulator(w, in, true) : NULL;
}

/* Products --------------------------------------------------------------------------------------
 */

struct wmma_types {
    enum ptx_type d, a, b, c;
};

static struct wmma_types wmma_types_of(const struct ptx_inst *ptx)
{
    if (ptx->op == PTX_OP_WMMA_MMA_F16)
        return (struct wmma_types){ptx->types[0], PTX_F16, PTX_F16, ptx->types[1]};
    return (struct wmma_types){ptx->types[0], ptx->types[1], ptx->types[2], ptx->types[3]};
}

static int rounding_of(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_RZ)   ? FE_TOWARDZERO
           : ptx_has(ptx, PTX_MOD_RM) ? FE_DOWNWARD
           : ptx_has(ptx, PTX_MOD_RP) ? FE_UPWARD
                                      : FE_TONEAREST;
}

static void multiply_tile(struct simt_warp *w, const struct simt_inst *in, struct wmma_types types,
                          unsigned rows, unsigned k, const struct tensor_fragments *f)
{
    if (in->ptx->op == PTX_OP_WMMA_MMA_F64) {
        SIMT_NAME(tensor_f64_tile)(rows, k, rounding_of(in->ptx), f);
    } else if (in->ptx->op == PTX_OP_WMMA_MMA_INT || in->ptx->op == PTX_OP_WMMA_MMA_BIT) {
        const struct tensor_int_kind kind = {
            .rows = (uint8_t)rows,
            .bytes = 16,
            .a_type = (uint8_t)types.a,
            .b_type = (uint8_t)types.b,
            .saturate = ptx_has(in->ptx, PTX_MOD_SATFINITE),
            .is_and = ptx_has(in->ptx, PTX_MOD_AND),
        };
        SIMT_NAME(tensor_int_tile)(&kind, f);
    } else {
        const struct tensor_float_kind kind = {(uint8_t)rows,      (uint8_t)k,
                                               (uint8_t)types.a,   (uint8_t)types.b,
                                               types.c == PTX_F16, types.d == PTX_F16};
        SIMT_NAME(tensor_float_tile)(simt_warp_gpu(w), &kind, f);
    }
}

/* .satfinite on floats (PTX 6.0 to 6.4): infinity to the largest number, NaN to 0. */
static void clamp_to_finite(uint8_t *reg, bool half)
{
    for (unsigned i = 0; i < (half ? 64 : 32); i++) {
        uint32_t bits = 0, infinity = half ? 0x7c00 : 0x7f800000;
        memcpy(&bits, reg + i * (half ? 2 : 4), half ? 2 : 4);
        uint32_t magnitude = bits & (half ? 0x7fff : 0x7fffffff);
        if (magnitude == infinity)
            bits--;
        else if (magnitude > infinity)
            bits = 0;
        memcpy(reg + i * (half ? 2 : 4), &bits, half ? 2 : 4);
    }
}

SIMT_BODY(wmma_mma)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    struct tensor_shape shape = tensor_shape_of(in->ptx);
    struct wmma_types types = wmma_types_of(in->ptx);
    struct operand_shape a = operand_shape_of(shape, types.a, false);
    struct operand_shape b = operand_shape_of(shape, types.b, true);
    unsigned d_count = accumulator_registers(shape, types.d);
    const uint32_t *a_list = in->list + d_count;
    const uint32_t *b_list = a_list + operand_registers(&a, types.a);
    const uint32_t *c_list = b_list + operand_registers(&b, types.b);
    if (is_transposed(shape)) {
        const struct operand_shape s = a;
        const uint32_t *list = a_list;
        enum ptx_type type = types.a;
        a = b, a_list = b_list, types.a = types.b;
        b = s, b_list = list, types.b = type;
    }
    unsigned rows = a.lines < 16 ? a.lines : 16, a_count = rows / 8 * a.pieces;
    unsigned c_count = rows / 8 * (types.c == PTX_F16 ? 1 : 2);
    unsigned d_tile = rows / 8 * (types.d == PTX_F16 ? 1 : 2);
    _Alignas(64) uint8_t results[8][256];
    unsigned tile = 0;
    for (unsigned column = 0; column < b.lines / 8; column++) {
        for (unsigned group = 0; group < a.lines / rows; group++, tile++) {
            struct tensor_fragments f;
            for (unsigned i = 0; i < a_count; i++)
                f.a[i] = w->regs + a_list[group * a_count + i];
            for (unsigned i = 0; i < b.pieces; i++)
                f.b[i] = w->regs + b_list[column * b.pieces + i];
            for (unsigned i = 0; i < c_count; i++)
                f.c[i] = w->regs + c_list[tile * c_count + i];
            for (unsigned i = 0; i < d_tile; i++)
                f.d[i] = results[tile * d_tile + i];
            multiply_tile(w, in, types, rows, a.k, &f);
        }
    }
    bool clamp = in->ptx->op == PTX_OP_WMMA_MMA_F16 && ptx_has(in->ptx, PTX_MOD_SATFINITE);
    for (unsigned i = 0; i < d_count; i++) {
        if (clamp)
            clamp_to_finite(results[i], types.d == PTX_F16);
        memcpy(w->regs + in->list[i], results[i], types.d == PTX_F64 ? 256 : 128);
    }
    return in + 1;
}

/* Which -----------------------------------------------------------------------------------------
 */

/* Shapes that a type of A and B has. */
static bool has_shape(struct tensor_shape s, enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_BF16:
    case PTX_S8:
    case PTX_U8:
        return s.k == 16;
    case PTX_TF32:
        return s.m == 16 && s.k == 8;
    case PTX_F64:
        return s.m == 8 && s.k == 4;
    case PTX_S4:
    case PTX_U4:
        return s.m == 8 && s.k == 32;
    case PTX_B1:
        return s.m == 8 && s.k == 128;
    default:
        return false;
    }
}

static bool accumulator_has_shape(struct tensor_shape s, enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
        return s.k == 16;
    case PTX_F32:
        return s.k == 16 || (s.m == 16 && s.k == 8);
    case PTX_F64:
        return s.m == 8 && s.k == 4;
    case PTX_S32:
        return s.k == 16 || s.k == 32 || s.k == 128;
    default:
        return false;
    }
}

static simt_body *select_load(const struct ptx_inst *ptx, struct tensor_shape shape)
{
    enum ptx_type type = ptx->types[0];
    unsigned count;
    if (ptx_has(ptx, PTX_MOD_C)) {
        if (!accumulator_has_shape(shape, type))
            return NULL;
        count = accumulator_registers(shape, type);
    } else {
        if (!has_shape(shape, type))
            return NULL;
        bool is_b = ptx_has(ptx, PTX_MOD_B);
        struct operand_shape s = operand_shape_of(shape, type, is_b);
        if (s.bits < 8 && ptx_has(ptx, PTX_MOD_ROW) == is_b)
            return NULL; /* A is row major, B column major */
        count = operand_registers(&s, type);
    }
    return tensor_register_count(ptx, 0) == count ? wmma_load : NULL;
}

simt_body *SIMT_NAME(tensor_select_wmma)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    struct tensor_shape shape = tensor_shape_of(ptx);
    if (ptx->op == PTX_OP_WMMA_LOAD)
        return select_load(ptx, shape);
    if (ptx->op == PTX_OP_WMMA_STORE) {
        enum ptx_type type = ptx->types[0];
        bool fits = accumulator_has_shape(shape, type) &&
                    tensor_register_count(ptx, 1) == accumulator_registers(shape, type);
        return fits ? wmma_store : NULL;
    }
    struct wmma_types types = wmma_types_of(ptx);
    if (!has_shape(shape, types.a) || ptx_type_bits(types.a) != ptx_type_bits(types.b))
        return NULL;
    struct operand_shape a = operand_shape_of(shape, types.a, false);
    struct operand_shape b = operand_shape_of(shape, types.b, true);
    if (!tensor_counts_are(ptx, accumulator_registers(shape, types.d),
                           operand_registers(&a, types.a), operand_registers(&b, types.b),
                           accumulator_registers(shape, types.c)))
        return NULL;
    return wmma_mma;
}
