/*
 * initialisers.c: the value after the '=' of a variable.
 * Bytes go to p->init, which grows as far as something is written, and addresses to p->relocs; both
 * move to the arena when the variable's size is settled.
 */
#include "ptx/front.h"

/* Where the next element goes, counted in elements of the innermost type. */
struct cursor {
    struct ptx_var *var;
    const uint64_t *dims;
    unsigned dim_count;
    uint64_t limit;   /* elements in all; UINT64_MAX while the first dimension is open */
    unsigned element; /* bytes */
    uint64_t next;
};

static void store(struct ptx_parser *p, uint64_t offset, uint64_t bits, unsigned bytes,
                  uint32_t place)
{
    if (offset + bytes > PTX_MAX_INIT_BYTES)
        ptx_fail(p, place, "initialiser is larger than %u MiB", PTX_MAX_INIT_BYTES >> 20);
    if (offset + bytes > p->init_capacity) {
        size_t capacity = p->init_capacity ? p->init_capacity : 256;
        while (capacity < offset + bytes)
            capacity *= 2;
        p->init = lk_realloc(p->init, capacity);
        p->init_capacity = capacity;
    }
    if (offset + bytes > p->init_size) {
        memset(p->init + p->init_size, 0, offset + bytes - p->init_size);
        p->init_size = offset + bytes;
    }
    memcpy(p->init + offset, &bits, bytes < 8 ? bytes : 8); /* b128: the upper half stays zero */
}

static void name_target(struct ptx_parser *p, struct ptx_reloc *reloc)
{
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    struct ptx_symbol *symbol = ptx_lookup(p, name);
    if (symbol && symbol->kind == PTX_SYMBOL_VAR)
        reloc->var = symbol->var;
    else if (symbol && symbol->kind == PTX_SYMBOL_FUNCTION)
        reloc->function = symbol->function;
    else
        ptx_fail(p, offset, "'%s' is not a variable or function declared above", name->text);
}

/* name, name + 4, generic(name) + 4 */
static struct ptx_reloc parse_address(struct ptx_parser *p)
{
    struct ptx_reloc reloc = {0};
    if (ptx_is_word(p, "generic")) {
        ptx_next(p);
        ptx_expect(p, '(');
        name_target(p, &reloc);
        if (ptx_is_punct(p, '+') || ptx_is_punct(p, '-'))
            reloc.addend = (int64_t)ptx_parse_integer(p, "an offset");
        ptx_expect(p, ')');
        reloc.generic = true;
    } else {
        name_target(p, &reloc);
    }
    if (ptx_is_punct(p, '+') || ptx_is_punct(p, '-'))
        reloc.addend = (int64_t)((uint64_t)reloc.addend + ptx_parse_integer(p, "an offset"));
    return reloc;
}

static void add_reloc(struct ptx_parser *p, struct ptx_reloc reloc, uint64_t offset, unsigned bytes,
                      uint32_t place)
{
    if (bytes > 8)
        ptx_fail(p, place, "an address does not fit this type");
    reloc.offset = offset;
    reloc.bytes = (uint8_t)bytes;
    PTX_PUSH(p->relocs, p->reloc_count, p->reloc_capacity) = reloc;
    store(p, offset, 0, bytes, place);
}

/* 0xFF00(name): some bytes of an address */
static struct ptx_reloc parse_masked(struct ptx_parser *p, uint64_t mask, unsigned *bytes,
                                     uint32_t place)
{
    unsigned shift = mask ? (unsigned)__builtin_ctzll(mask) : 0;
    unsigned width = (unsigned)__builtin_popcountll(mask);
    if (!mask || shift % 8 || width % 8 || (width < 64 && mask >> shift != (1ull << width) - 1))
        ptx_fail(p, place, "the mask of an address must be whole bytes side by side, as 0xFF00");
    ptx_expect(p, '(');
    struct ptx_reloc reloc = parse_address(p);
    ptx_expect(p, ')');
    reloc.shift = (uint8_t)shift;
    if (width / 8 > *bytes)
        ptx_fail(p, place, "the masked address does not fit this type");
    *bytes = width / 8;
    return reloc;
}

static void parse_scalar(struct ptx_parser *p, struct cursor *cursor)
{
    uint32_t place = p->token.start;
    enum ptx_type type = cursor->var->type;
    if (cursor->next >= cursor->limit)
        ptx_fail(p, place, "more values than '%s' has elements", cursor->var->name);
    uint64_t offset = cursor->next++ * cursor->element;
    if (offset > PTX_MAX_INIT_BYTES)
        ptx_fail(p, place, "initialiser is larger than %u MiB", PTX_MAX_INIT_BYTES >> 20);
    if (p->token.kind == PTX_TOKEN_IDENT && !ptx_is_word(p, "WARP_SZ")) {
        add_reloc(p, parse_address(p), offset, cursor->element, place);
        return;
    }
    struct ptx_value value = ptx_parse_constant(p);
    if (ptx_is_punct(p, '(') && value.kind != PTX_VALUE_FLOAT) {
        unsigned bytes = cursor->element;
        struct ptx_reloc reloc = parse_masked(p, value.bits, &bytes, place);
        store(p, offset, 0, cursor->element, place);
        add_reloc(p, reloc, offset, bytes, place);
        return;
    }
    uint64_t bits;
    /* Integers in a floating-point array stand for numbers here: { 0, 1 }. */
    if (value.kind != PTX_VALUE_FLOAT && ptx_type_kind(type) == PTX_KIND_FLOAT) {
        value.real =
            value.kind == PTX_VALUE_SIGNED ? (double)(int64_t)value.bits : (double)value.bits;
        value.kind = PTX_VALUE_FLOAT;
    }
    if (!ptx_constant_bits(value, type, &bits))
        ptx_fail(p, place, "this constant is not a .%s", ptx_type_name(type));
    store(p, offset, bits, cursor->element, place);
}

/* How many elements one item of dimension level holds. */
static uint64_t stride_of(const struct cursor *cursor, unsigned level)
{
    uint64_t stride = 1;
    for (unsigned i = level + 1; i < cursor->dim_count; i++)
        stride *= cursor->dims[i];
    return stride;
}

static void parse_braces(struct ptx_parser *p, struct cursor *cursor, unsigned level)
{
    uint32_t place = p->token.start;
    ptx_enter(p);
    ptx_expect(p, '{');
    if (level >= cursor->dim_count)
        ptx_fail(p, place, "braces deeper than '%s' has dimensions", cursor->var->name);
    uint64_t stride = stride_of(cursor, level), start = cursor->next;
    uint64_t outer = cursor->limit;
    if (level || cursor->limit != UINT64_MAX)
        cursor->limit = start + stride * cursor->dims[level];
    while (!ptx_is_punct(p, '}')) {
        if (ptx_is_punct(p, '{')) {
            uint64_t filled = cursor->next - start;
            if (stride) /* a brace begins a whole row */
                cursor->next = start + (filled + stride - 1) / stride * stride;
            if (cursor->next >= cursor->limit)
                ptx_fail(p, p->token.start, "more values than '%s' has elements",
                         cursor->var->name);
            uint64_t row = cursor->next;
            parse_braces(p, cursor, level + 1);
            cursor->next = row + stride;
        } else {
            parse_scalar(p, cursor);
        }
        if (!ptx_accept(p, ','))
            break;
    }
    ptx_expect(p, '}');
    cursor->limit = outer;
    ptx_leave(p);
}

static void keep_initialiser(struct ptx_parser *p, struct ptx_var *var, uint32_t place)
{
    p->init_total += var->size;
    if (p->init_total > PTX_MAX_INIT_BYTES)
        ptx_fail(p, place, "the module has more than %u MiB of initialised data",
                 PTX_MAX_INIT_BYTES >> 20);
    uint8_t *init = lk_arena_alloc(p->arena, var->size);
    if (p->init_size)
        memcpy(init, p->init, p->init_size);
    var->init = init;
    var->relocs = lk_arena_dup(p->arena, p->relocs, p->reloc_count * sizeof(*p->relocs));
    var->reloc_count = p->reloc_count;
}

void ptx_parse_initialiser(struct ptx_parser *p, struct ptx_var *var, const uint64_t *dims,
                           unsigned dim_count, bool is_open)
{
    uint32_t place = p->token.start;
    uint64_t all_dims[32];
    struct cursor cursor = {.var = var, .dims = all_dims, .dim_count = dim_count};
    memcpy(all_dims, dims, dim_count * sizeof(*dims));
    if (var->vector > 1)
        all_dims[cursor.dim_count++] = var->vector;
    cursor.element = ptx_type_bits(var->type) / 8;
    cursor.limit = is_open ? UINT64_MAX : var->size / cursor.element;
    p->init_size = 0;
    p->reloc_count = 0;
    if (ptx_is_punct(p, '{') && cursor.dim_count)
        parse_braces(p, &cursor, 0);
    else if (ptx_accept(p, '{')) { /* .u32 x = { 1 }; */
        parse_scalar(p, &cursor);
        ptx_expect(p, '}');
    } else
        parse_scalar(p, &cursor);
    if (is_open) {
        uint64_t stride = stride_of(&cursor, 0);
        uint64_t rows = stride ? (cursor.next + stride - 1) / stride : 0;
        var->size = rows * stride * cursor.element;
        if (var->size > PTX_MAX_INIT_BYTES)
            ptx_fail(p, place, "initialiser is larger than %u MiB", PTX_MAX_INIT_BYTES >> 20);
    }
    keep_initialiser(p, var, place);
}
