/*
 * operands.c: operands as they are written, before it is known what the instruction takes.
 * Names are looked up here; a name that means nothing yet may be a label further on. The result is
 * in p->raws, with the items of vectors, lists and tensor coordinates in p->items.
 */
#include "ptx/front.h"

static void parse_operand(struct ptx_parser *p, struct ptx_raw *raw);

static void clear_raw(struct ptx_parser *p, struct ptx_raw *raw)
{
    memset(raw, 0, sizeof(*raw));
    raw->offset = p->token.start;
    raw->operand.reg = raw->operand.pair = PTX_NO_REG;
}

static struct ptx_raw *add_item(struct ptx_parser *p)
{
    if (p->item_count == PTX_MAX_ITEMS)
        ptx_fail(p, p->token.start, "more than %d items", PTX_MAX_ITEMS);
    return &PTX_PUSH(p->items, p->item_count, p->item_capacity);
}

/* A constant expression, which may go on after what was already read. */
static void parse_literal(struct ptx_parser *p, struct ptx_raw *raw)
{
    raw->operand.kind = PTX_OPERAND_IMM;
    raw->value = ptx_parse_constant(p);
    raw->operand.imm = (int64_t)raw->value.bits;
}

/* .x .y .z .w, or .r .g .b .a; -1 if the token is neither */
static int component_of(const struct ptx_parser *p)
{
    if (p->token.kind != PTX_TOKEN_DOT || p->token.end - p->token.start != 2)
        return -1;
    static const char letters[] = "xyzwrgba";
    const char *found = strchr(letters, p->text[p->token.start + 1]);
    return found ? (int)(found - letters) % 4 : -1;
}

/* How many values a digit may have after .b or .h: of a part, an order of source elements (.b3210,
 * .h32) or a mask of some bytes of the destination (.b31, .b310), whose digits fall. 0: none. */
static unsigned selector_limit(bool is_byte, bool is_destination, const char *digits,
                               uint32_t count)
{
    unsigned elements = is_byte ? 4 : 2;
    if (count == 1)
        return elements;
    if (count == elements)
        return 2 * elements;
    if (!is_byte || !is_destination || (count != 2 && count != 3))
        return 0;
    for (uint32_t i = 1; i < count; i++)
        if (digits[i] >= digits[i - 1])
            return 0;
    return elements;
}

/* .b0 .. .h1 of video instructions, and .b3210-like orders and masks of their SIMD forms */
static void parse_selector(struct ptx_parser *p, struct ptx_raw *raw)
{
    const char *text = p->text + p->token.start + 1;
    uint32_t length = p->token.end - p->token.start - 1;
    bool is_byte = text[0] == 'b';
    uint32_t digits = length - 1;
    unsigned limit = 0;
    if (is_byte || text[0] == 'h')
        limit = selector_limit(is_byte, raw == p->raws, text + 1, digits);
    bool is_valid = limit > 0;
    for (uint32_t i = 1; i < length; i++)
        is_valid = is_valid && text[i] >= '0' && text[i] < (char)('0' + limit);
    if (!is_valid)
        ptx_fail(p, p->token.start,
                 "unknown part of a register; .b0 .. .b3, .h0, .h1, .b3210 and "
                 ".h10 are known");
    if (digits == 1) {
        raw->operand.selector =
            (uint8_t)((is_byte ? PTX_SELECT_B0 : PTX_SELECT_H0) + (text[1] - '0'));
    } else {
        raw->operand.selector = PTX_SELECT_OTHER;
        for (uint32_t i = 1; i < length; i++) /* written highest first */
            raw->operand.imm = raw->operand.imm << 4 | (text[i] - '0');
    }
    ptx_next(p);
}

static void take_vector_register(struct ptx_parser *p, struct ptx_raw *raw,
                                 const struct ptx_symbol *symbol)
{
    int component = component_of(p);
    if (component >= 0) {
        if ((uint32_t)component >= symbol->count)
            ptx_fail(p, p->token.start, "'%s' has %u components", symbol->name->text,
                     symbol->count);
        raw->operand.kind = PTX_OPERAND_REG;
        raw->operand.reg = symbol->reg + (uint32_t)component;
        ptx_next(p);
        return;
    }
    raw->operand.kind = PTX_OPERAND_VECTOR;
    raw->first_item = p->item_count;
    raw->operand.item_count = symbol->count;
    for (uint32_t i = 0; i < symbol->count; i++) {
        struct ptx_raw item;
        clear_raw(p, &item);
        item.offset = raw->offset;
        item.operand.kind = PTX_OPERAND_REG;
        item.operand.reg = symbol->reg + i;
        *add_item(p) = item;
    }
}

static bool set_sreg(struct ptx_raw *raw, const char *text, size_t length)
{
    unsigned index;
    raw->operand.sreg = ptx_find_sreg(text, length, &index);
    raw->operand.kind = PTX_OPERAND_SREG;
    raw->operand.imm = index;
    return raw->operand.sreg != PTX_SREG_NONE;
}

/* %tid alone is a vector of four; its .w is always zero. */
static bool take_sreg_vector(struct ptx_parser *p, struct ptx_raw *raw, struct ptx_name *name)
{
    char text[64];
    if (name->length + 3 > sizeof(text))
        return false;
    memcpy(text, name->text, name->length);
    memcpy(text + name->length, ".x", 3);
    struct ptx_raw probe = {0};
    if (!set_sreg(&probe, text, name->length + 2))
        return false;
    int component = component_of(p);
    if (component >= 0)
        ptx_next(p);
    raw->operand.kind = PTX_OPERAND_VECTOR;
    raw->operand.item_count = 4;
    raw->first_item = p->item_count;
    for (int i = 0; i < 4; i++) {
        struct ptx_raw item;
        clear_raw(p, &item);
        item.offset = raw->offset;
        text[name->length + 1] = "xyzw"[i];
        if (i == 3)
            item.operand.kind = PTX_OPERAND_IMM; /* of value 0 */
        else
            set_sreg(&item, text, name->length + 2);
        if (component == i)
            item.name = raw->name, *raw = item;
        if (component < 0)
            *add_item(p) = item;
    }
    return true;
}

static void take_variable(struct ptx_parser *p, struct ptx_raw *raw, const struct ptx_var *var)
{
    raw->operand.kind = PTX_OPERAND_VAR;
    raw->operand.var = var;
    if (ptx_accept(p, '[')) { /* x[2]: the third element */
        uint64_t index = ptx_parse_integer(p, "an index");
        uint64_t element = (uint64_t)ptx_type_bits(var->type) / 8 * var->vector;
        raw->operand.imm = (int64_t)(index * element);
        ptx_expect(p, ']');
    }
}

/* Returns false for a name that is unknown so far. */
static bool resolve_name(struct ptx_parser *p, struct ptx_raw *raw)
{
    struct ptx_symbol *symbol = ptx_lookup(p, raw->name);
    if (!symbol)
        return set_sreg(raw, raw->name->text, raw->name->length) ||
               take_sreg_vector(p, raw, raw->name);
    switch (symbol->kind) {
    case PTX_SYMBOL_REG:
        raw->operand.kind = PTX_OPERAND_REG;
        raw->operand.reg = symbol->reg;
        if (p->token.kind == PTX_TOKEN_DOT)
            parse_selector(p, raw);
        return true;
    case PTX_SYMBOL_REG_VECTOR:
        take_vector_register(p, raw, symbol);
        return true;
    case PTX_SYMBOL_VAR:
        take_variable(p, raw, symbol->var);
        return true;
    case PTX_SYMBOL_FUNCTION:
        raw->operand.kind = PTX_OPERAND_FUNCTION;
        raw->operand.function = symbol->function;
        return true;
    case PTX_SYMBOL_PROTOTYPE:
    case PTX_SYMBOL_CALL_TARGETS:
        raw->prototype = symbol->function;
        return false;
    default:
        return false;
    }
}

/* The p of d|p. */
static void parse_pair(struct ptx_parser *p, struct ptx_raw *raw)
{
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    raw->has_pair = true;
    if (strcmp(name->text, "_") == 0)
        return;
    struct ptx_symbol *symbol = ptx_lookup(p, name);
    if (!symbol || symbol->kind != PTX_SYMBOL_REG)
        ptx_fail(p, offset, "'%s' is not a register", name->text);
    raw->operand.pair = symbol->reg;
}

static void parse_named(struct ptx_parser *p, struct ptx_raw *raw)
{
    raw->name = ptx_take_name(p);
    if (strcmp(raw->name->text, "_") == 0)
        raw->operand.kind = PTX_OPERAND_SINK;
    else if (!resolve_name(p, raw)) {
        raw->operand.kind = PTX_OPERAND_LABEL;
        raw->is_unknown = true;
    }
    if ((raw->operand.kind == PTX_OPERAND_REG || raw->operand.kind == PTX_OPERAND_SINK) &&
        ptx_accept(p, '|'))
        parse_pair(p, raw);
}

static bool is_name(const struct ptx_parser *p)
{
    return p->token.kind == PTX_TOKEN_IDENT && !ptx_is_word(p, "WARP_SZ");
}

/* !p and -r; followed by anything else, the sign belongs to a constant. */
static void parse_signed(struct ptx_parser *p, struct ptx_raw *raw)
{
    struct ptx_token sign = p->token;
    uint32_t scan = p->scan, line = p->line, line_start = p->line_start;
    ptx_next(p);
    if (is_name(p)) {
        parse_named(p, raw);
        raw->operand.negate = true;
        return;
    }
    p->token = sign;
    p->scan = scan;
    p->line = line;
    p->line_start = line_start;
    parse_literal(p, raw);
}

/* {a, b, c} or (a, b); p->items gets them side by side. */
static void parse_list(struct ptx_parser *p, struct ptx_raw *raw, char close)
{
    raw->operand.kind = PTX_OPERAND_VECTOR;
    raw->first_item = p->item_count;
    if (ptx_accept(p, close))
        return;
    do {
        struct ptx_raw item;
        if (ptx_is_punct(p, '{') || ptx_is_punct(p, '['))
            ptx_fail(p, p->token.start, "lists cannot be nested");
        uint32_t before = p->item_count;
        parse_operand(p, &item);
        if (p->item_count != before)
            ptx_fail(p, item.offset, "lists cannot be nested");
        *add_item(p) = item;
    } while (ptx_accept(p, ','));
    ptx_expect(p, close);
    raw->operand.item_count = p->item_count - raw->first_item;
}

static void add_offset(struct ptx_parser *p, struct ptx_raw *raw)
{
    raw->operand.imm = (int64_t)((uint64_t)raw->operand.imm + ptx_parse_integer(p, "an offset"));
}

/* What may follow the base of an address: + const, - const, + reg. */
static void parse_offset(struct ptx_parser *p, struct ptx_raw *raw)
{
    while (ptx_is_punct(p, '+') || ptx_is_punct(p, '-')) {
        if (ptx_is_punct(p, '+')) {
            ptx_next(p);
            if (is_name(p)) {
                struct ptx_raw index;
                clear_raw(p, &index);
                parse_named(p, &index);
                if (index.operand.kind != PTX_OPERAND_REG || raw->operand.reg != PTX_NO_REG)
                    ptx_fail(p, index.offset, "an address takes one register and a constant");
                raw->operand.reg = index.operand.reg;
                continue;
            }
        }
        add_offset(p, raw);
    }
}

/* {x, y}, or x alone. */
static void parse_coordinates(struct ptx_parser *p, struct ptx_raw *raw)
{
    struct ptx_raw coordinates;
    clear_raw(p, &coordinates);
    if (ptx_accept(p, '{')) {
        parse_list(p, &coordinates, '}');
        raw->first_item = coordinates.first_item;
        raw->operand.item_count = coordinates.operand.item_count;
        return;
    }
    parse_operand(p, &coordinates);
    if (ptx_is_punct(p, ','))
        ptx_fail(p, coordinates.offset,
                 "a sampler of its own is not supported: bind the texture with its sampler, as a "
                 "texture object (.texmode_unified)");
    raw->first_item = p->item_count;
    raw->operand.item_count = 1;
    *add_item(p) = coordinates;
}

/* [base + offset], and [tensor, {coordinates}] whose coordinates become items */
static void parse_address(struct ptx_parser *p, struct ptx_raw *raw)
{
    ptx_expect(p, '[');
    if (is_name(p)) {
        parse_named(p, raw);
        if (raw->is_unknown)
            ptx_fail(p, raw->offset + 1, "'%s' is not declared", raw->name->text);
        if ((raw->operand.kind != PTX_OPERAND_REG && raw->operand.kind != PTX_OPERAND_VAR) ||
            raw->operand.selector || raw->has_pair)
            ptx_fail(p, raw->offset + 1, "'%s' is not an address", raw->name->text);
        parse_offset(p, raw);
    } else {
        raw->operand.imm = (int64_t)ptx_parse_integer(p, "an address");
    }
    raw->operand.kind = PTX_OPERAND_ADDRESS;
    if (ptx_accept(p, ','))
        parse_coordinates(p, raw);
    ptx_expect(p, ']');
}

static void parse_operand(struct ptx_parser *p, struct ptx_raw *raw)
{
    clear_raw(p, raw);
    if (is_name(p)) {
        parse_named(p, raw);
        if (raw->operand.kind == PTX_OPERAND_VAR && (ptx_is_punct(p, '+') || ptx_is_punct(p, '-')))
            add_offset(p, raw);
    } else if (ptx_accept(p, '{')) {
        parse_list(p, raw, '}');
        if (ptx_accept(p, '|'))
            parse_pair(p, raw);
    } else if (ptx_is_punct(p, '[')) {
        parse_address(p, raw);
    } else if (ptx_is_punct(p, '!') || ptx_is_punct(p, '-')) {
        parse_signed(p, raw);
    } else {
        parse_literal(p, raw);
    }
}

static struct ptx_raw *add_raw(struct ptx_parser *p)
{
    if (p->raw_count == PTX_MAX_OPERANDS)
        ptx_fail(p, p->token.start, "more than %d operands", PTX_MAX_OPERANDS);
    return &p->raws[p->raw_count++];
}

void ptx_parse_operands(struct ptx_parser *p)
{
    if (ptx_is_punct(p, ';'))
        return;
    do
        parse_operand(p, add_raw(p));
    while (ptx_accept(p, ','));
}

static void parse_call_list(struct ptx_parser *p, struct ptx_raw *raw)
{
    clear_raw(p, raw);
    ptx_expect(p, '(');
    parse_list(p, raw, ')');
}

/* call (r), f, (a, b), prototype; the lists may be missing, and then are empty. */
void ptx_parse_call_operands(struct ptx_parser *p)
{
    struct ptx_raw *returns = add_raw(p), *callee = add_raw(p), *arguments = add_raw(p);
    clear_raw(p, returns);
    returns->operand.kind = PTX_OPERAND_VECTOR;
    if (ptx_is_punct(p, '(')) {
        parse_call_list(p, returns);
        ptx_expect(p, ',');
    }
    if (!is_name(p))
        ptx_fail_expected(p, "a function");
    parse_operand(p, callee);
    clear_raw(p, arguments);
    arguments->operand.kind = PTX_OPERAND_VECTOR;
    if (!ptx_accept(p, ','))
        return;
    if (ptx_is_punct(p, '(')) {
        parse_call_list(p, arguments);
        if (!ptx_accept(p, ','))
            return;
    }
    if (!is_name(p))
        ptx_fail_expected(p, "a .callprototype or .calltargets");
    parse_operand(p, add_raw(p));
}
