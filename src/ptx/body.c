/*
 * body.c: the statements of a function's body.
 * Scopes are opened and closed in a loop, not by recursion, and labels become instruction numbers.
 */
#include "ptx/front.h"

/* An instruction's opcode, matched once per module however often it occurs. */
static const struct ptx_opcode *find_opcode(struct ptx_parser *p, const char *text, size_t length,
                                            uint32_t offset)
{
    struct ptx_opcode *opcode = lk_map_get(&p->opcodes, text, length);
    if (opcode)
        return opcode;
    size_t at;
    p->scratch.size = 0;
    opcode = ptx_match_opcode(p->arena, text, length, &p->scratch, &at);
    if (!opcode) {
        p->scratch.data[p->scratch.size] = 0;
        ptx_fail(p, offset + (uint32_t)at, "%s", p->scratch.data);
    }
    lk_map_put(&p->opcodes, opcode->text, length, opcode);
    return opcode;
}

/* Reads the suffixes after a mnemonic. They usually touch; "add .u32" is the same opcode. */
static const struct ptx_opcode *parse_opcode(struct ptx_parser *p, struct ptx_token mnemonic)
{
    uint32_t end = mnemonic.end;
    while (p->token.kind == PTX_TOKEN_DOT && p->token.start == end) {
        end = p->token.end;
        ptx_next(p);
    }
    if (p->token.kind != PTX_TOKEN_DOT)
        return find_opcode(p, p->text + mnemonic.start, end - mnemonic.start, mnemonic.start);
    p->scratch.size = 0;
    lk_buf_add(&p->scratch, p->text + mnemonic.start, end - mnemonic.start);
    while (p->token.kind == PTX_TOKEN_DOT && p->scratch.size < 1000) {
        lk_buf_add(&p->scratch, p->text + p->token.start, p->token.end - p->token.start);
        ptx_next(p);
    }
    size_t length = p->scratch.size;
    const char *text = lk_arena_strndup(p->arena, p->scratch.data, length);
    return find_opcode(p, text, length, mnemonic.start);
}

/* Operands of what is not executed: anything up to the ';'. */
static void skip_operands(struct ptx_parser *p)
{
    while (!ptx_is_punct(p, ';')) {
        if (p->token.kind == PTX_TOKEN_END)
            ptx_fail_expected(p, "';'");
        ptx_next(p);
    }
}

static void expect_end(struct ptx_parser *p)
{
    if (!ptx_is_punct(p, ';'))
        ptx_fail_expected(p, "',' or ';'");
}

static uint32_t take_guard(struct ptx_parser *p, bool *negate)
{
    *negate = ptx_accept(p, '!');
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    struct ptx_symbol *symbol = ptx_lookup(p, name);
    if (!symbol || symbol->kind != PTX_SYMBOL_REG || symbol->type != PTX_PRED)
        ptx_fail(p, offset, "'%s' is not a predicate register", name->text);
    return symbol->reg;
}

static bool reads_reg(const struct ptx_operand *operand, uint32_t reg)
{
    for (uint32_t i = 0; i < operand->item_count; i++)
        if (operand->items[i].kind == PTX_OPERAND_REG && operand->items[i].reg == reg)
            return true;
    return false;
}

static void add_move(struct ptx_parser *p, const struct ptx_inst *vector, struct ptx_operand to,
                     struct ptx_operand from)
{
    struct ptx_operand *operands = lk_arena_alloc(p->arena, 2 * sizeof(*operands));
    operands[0] = to;
    operands[1] = from;
    struct ptx_inst mov = *vector;
    mov.op = PTX_OP_MOV;
    memset(mov.mods, 0, sizeof(mov.mods));
    memset(mov.slots, 0, sizeof(mov.slots));
    mov.slots[0] = (uint16_t)(PTX_MOD_COUNT + vector->types[0]);
    mov.operands = operands;
    PTX_PUSH(p->insts, p->inst_count, p->inst_capacity) = mov;
}

/* mov.v4.u32 %v, %tid is four movs, so that nothing after the parser needs to know about it. */
static void add_moves(struct ptx_parser *p, const struct ptx_inst *vector)
{
    const struct ptx_operand *to = &vector->operands[0], *from = &vector->operands[1];
    struct ptx_operand sources[4];
    bool overlaps = false;
    for (uint32_t i = 0; i < to->item_count; i++) {
        sources[i] = from->items[i];
        overlaps |= reads_reg(from, to->items[i].reg);
    }
    for (uint32_t i = 0; overlaps && i < to->item_count; i++) { /* through registers of its own */
        struct ptx_operand copy = to->items[i];
        copy.kind = PTX_OPERAND_REG;
        copy.reg = ptx_add_reg(p, "%mov", vector->types[0]);
        add_move(p, vector, copy, sources[i]);
        sources[i] = copy;
    }
    for (uint32_t i = 0; i < to->item_count; i++)
        if (to->items[i].kind == PTX_OPERAND_REG)
            add_move(p, vector, to->items[i], sources[i]);
}

/* The token before the current one is the mnemonic. */
static void parse_instruction(struct ptx_parser *p, struct ptx_token mnemonic, uint32_t line,
                              uint32_t column, uint32_t guard, bool guard_negate)
{
    const struct ptx_opcode *opcode = parse_opcode(p, mnemonic);
    const struct ptx_row *row = ptx_row_of(opcode->templates[0].op);
    struct ptx_inst inst = opcode->templates[0];
    p->raw_count = p->item_count = 0;
    if (row->anything_operands) {
        skip_operands(p);
    } else if (inst.op == PTX_OP_CALL) {
        ptx_parse_call_operands(p);
        expect_end(p);
        ptx_check_call(p, &inst, mnemonic.start);
    } else {
        ptx_parse_operands(p);
        expect_end(p);
        ptx_check_operands(p, opcode, &inst, mnemonic.start);
    }
    ptx_expect(p, ';');
    inst.guard = guard;
    inst.guard_negate = guard_negate;
    inst.keeps_loop = p->keeps_loop;
    p->keeps_loop = false;
    inst.line = line;
    inst.column = column;
    inst.loc = p->loc;
    if (inst.op == PTX_OP_MOV_VECTOR)
        add_moves(p, &inst);
    else
        PTX_PUSH(p->insts, p->inst_count, p->inst_capacity) = inst;
}

/* After "name: .branchtargets": labels */
static void parse_branch_targets(struct ptx_parser *p, struct ptx_name *name, uint32_t offset)
{
    uint32_t first = p->item_count = 0;
    do {
        struct ptx_raw *raw = &PTX_PUSH(p->items, p->item_count, p->item_capacity);
        raw->offset = p->token.start;
        raw->name = ptx_take_name(p);
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
    uint32_t count = p->item_count - first;
    struct ptx_symbol *symbol = ptx_declare(p, name, PTX_SYMBOL_TARGETS, offset);
    symbol->items = lk_arena_alloc(p->arena, count * sizeof(*symbol->items));
    symbol->count = count;
    for (uint32_t i = 0; i < count; i++) {
        symbol->items[i] =
            (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REG, .pair = PTX_NO_REG};
        ptx_add_pending(p, &symbol->items[i], p->items[first + i].name, p->items[first + i].offset);
    }
}

/* After "name: .calltargets": functions that all have the same parameters */
static void parse_call_targets(struct ptx_parser *p, struct ptx_name *name, uint32_t offset)
{
    struct ptx_function *first = NULL;
    do {
        uint32_t place = p->token.start;
        struct ptx_name *target = ptx_take_name(p);
        struct ptx_symbol *symbol = ptx_lookup(p, target);
        if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION)
            ptx_fail(p, place, "'%s' is not a function declared above", target->text);
        if (!first)
            first = symbol->function;
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
    ptx_declare(p, name, PTX_SYMBOL_CALL_TARGETS, offset)->function = first;
}

static void define_label(struct ptx_parser *p, struct ptx_name *name, uint32_t offset)
{
    if (ptx_accept_dot(p, ".branchtargets"))
        parse_branch_targets(p, name, offset);
    else if (ptx_accept_dot(p, ".calltargets"))
        parse_call_targets(p, name, offset);
    else if (ptx_accept_dot(p, ".callprototype"))
        ptx_declare(p, name, PTX_SYMBOL_PROTOTYPE, offset)->function = ptx_parse_prototype(p, name);
    else
        ptx_declare(p, name, PTX_SYMBOL_LABEL, offset)->target = p->last_label = p->inst_count;
}

static void parse_labelled(struct ptx_parser *p)
{
    struct ptx_token first = p->token;
    uint32_t line = p->line, column = first.start - p->line_start + 1;
    ptx_next(p);
    if (ptx_accept(p, ':')) {
        struct ptx_name *name = ptx_intern(p, p->text + first.start, first.end - first.start);
        define_label(p, name, first.start);
    } else {
        parse_instruction(p, first, line, column, PTX_NO_REG, false);
    }
}

static void parse_guarded(struct ptx_parser *p)
{
    bool negate;
    uint32_t line = p->line, column = p->token.start - p->line_start + 1;
    ptx_expect(p, '@');
    uint32_t guard = take_guard(p, &negate);
    struct ptx_token mnemonic = p->token;
    if (mnemonic.kind != PTX_TOKEN_IDENT)
        ptx_fail_expected(p, "an instruction");
    ptx_next(p);
    parse_instruction(p, mnemonic, line, column, guard, negate);
}

static void parse_body_directive(struct ptx_parser *p)
{
    struct ptx_linkage linkage = {0};
    if (ptx_accept_dot(p, ".reg")) {
        ptx_parse_registers(p);
    } else if (ptx_accept_dot(p, ".loc")) {
        ptx_parse_loc(p);
    } else if (ptx_accept_dot(p, ".file")) {
        ptx_parse_file(p);
    } else if (ptx_accept_dot(p, ".pragma")) {
        p->keeps_loop |= ptx_parse_pragma(p);
        ptx_expect(p, ';');
    } else {
        linkage.is_extern = ptx_accept_dot(p, ".extern");
        ptx_parse_variables(p, linkage);
    }
}

static bool ends_control(const struct ptx_parser *p)
{
    if (!p->inst_count)
        return false;
    const struct ptx_inst *last = &p->insts[p->inst_count - 1];
    return last->guard == PTX_NO_REG &&
           (last->op == PTX_OP_RET || last->op == PTX_OP_EXIT || last->op == PTX_OP_BRA ||
            last->op == PTX_OP_BRX || last->op == PTX_OP_TRAP);
}

/* Every target, also that of a label at the very end, must be an instruction. */
static bool has_label_at_end(const struct ptx_parser *p)
{
    return p->last_label == p->inst_count;
}

static void end_body(struct ptx_parser *p)
{
    if (ends_control(p) && !has_label_at_end(p))
        return;
    struct ptx_inst ret = {.op = PTX_OP_RET, .guard = PTX_NO_REG, .text = "ret"};
    ret.line = p->line;
    ret.column = p->token.start - p->line_start + 1;
    ret.loc = p->loc;
    PTX_PUSH(p->insts, p->inst_count, p->inst_capacity) = ret;
}

void ptx_parse_body(struct ptx_parser *p)
{
    uint32_t start = p->token.start, outside = p->scope->depth;
    p->last_label = UINT32_MAX;
    do {
        if (p->token.kind == PTX_TOKEN_IDENT) {
            parse_labelled(p);
        } else if (p->token.kind == PTX_TOKEN_DOT) {
            parse_body_directive(p);
        } else if (ptx_is_punct(p, '@')) {
            parse_guarded(p);
        } else if (ptx_accept(p, '{')) {
            ptx_open_scope(p);
        } else if (ptx_is_punct(p, '}')) {
            if (p->scope->depth == outside + 1)
                end_body(p);
            ptx_close_scope(p);
            ptx_next(p);
        } else if (p->token.kind == PTX_TOKEN_END) {
            ptx_fail(p, start, "function without end: '}' is missing");
        } else if (!ptx_accept(p, ';')) {
            ptx_fail_expected(p, "an instruction");
        }
    } while (p->scope->depth > outside);
}
