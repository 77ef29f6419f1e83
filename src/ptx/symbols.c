/*
 * symbols.c: names, scopes, and what a name means where it is used.
 * Every name is interned once; a name points to its innermost symbol, and that to the one it
 * shadows. Closing a scope takes its symbols off again and settles the labels used in it.
 */
#include "ptx/front.h"

#include <stdio.h>

struct ptx_name *ptx_intern(struct ptx_parser *p, const char *text, uint32_t length)
{
    struct ptx_name *name = lk_map_get(&p->names, text, length);
    if (name)
        return name;
    name = lk_arena_alloc(p->arena, sizeof(*name));
    name->text = lk_arena_strndup(p->arena, text, length);
    name->length = length;
    lk_map_put(&p->names, name->text, length, name);
    return name;
}

void ptx_open_scope(struct ptx_parser *p)
{
    struct ptx_scope *scope = lk_arena_alloc(p->arena, sizeof(*scope));
    scope->parent = p->scope;
    scope->depth = p->scope ? p->scope->depth + 1 : 0;
    if (scope->depth > PTX_MAX_NESTING)
        ptx_fail(p, p->token.start, "scopes nested more than %d deep", PTX_MAX_NESTING);
    p->scope = scope;
}

static void settle(struct ptx_parser *p, struct ptx_pending *use, struct ptx_symbol *symbol)
{
    if (symbol->kind == PTX_SYMBOL_LABEL) {
        use->operand->kind = PTX_OPERAND_LABEL;
        use->operand->target = symbol->target;
    } else {
        use->operand->kind = PTX_OPERAND_TARGETS;
        use->operand->items = symbol->items;
        use->operand->item_count = symbol->count;
    }
}

void ptx_close_scope(struct ptx_parser *p)
{
    struct ptx_scope *scope = p->scope, *parent = scope->parent;
    for (struct ptx_pending *use = scope->pending, *next; use; use = next) {
        next = use->next;
        struct ptx_symbol *symbol = use->name->symbol;
        bool is_label =
            symbol && (symbol->kind == PTX_SYMBOL_LABEL || symbol->kind == PTX_SYMBOL_TARGETS);
        if (symbol && symbol->scope == scope && is_label) {
            settle(p, use, symbol);
        } else if (parent && parent->depth > 0) {
            use->next = parent->pending;
            parent->pending = use;
        } else {
            ptx_fail(p, use->offset, "label '%s' is not defined%s", use->name->text,
                     symbol && !is_label ? ": that name is not a label" : "");
        }
    }
    for (struct ptx_symbol *symbol = scope->symbols; symbol; symbol = symbol->next) {
        if (symbol->kind == PTX_SYMBOL_REG_RANGE)
            symbol->name->range = symbol->shadowed;
        else
            symbol->name->symbol = symbol->shadowed;
    }
    p->scope = parent;
}

/* Puts a symbol on its name's stack, under those of deeper scopes. */
static struct ptx_symbol *add_symbol(struct ptx_parser *p, struct ptx_scope *scope,
                                     struct ptx_name *name, enum ptx_symbol_kind kind)
{
    struct ptx_symbol *symbol = lk_arena_alloc(p->arena, sizeof(*symbol));
    struct ptx_symbol **link = kind == PTX_SYMBOL_REG_RANGE ? &name->range : &name->symbol;
    while (*link && (*link)->scope->depth > scope->depth)
        link = &(*link)->shadowed;
    symbol->kind = kind;
    symbol->name = name;
    symbol->scope = scope;
    symbol->shadowed = *link;
    *link = symbol;
    symbol->next = scope->symbols;
    scope->symbols = symbol;
    return symbol;
}

struct ptx_symbol *ptx_declare(struct ptx_parser *p, struct ptx_name *name,
                               enum ptx_symbol_kind kind, uint32_t offset)
{
    struct ptx_symbol *old = kind == PTX_SYMBOL_REG_RANGE ? name->range : name->symbol;
    if (old && old->scope == p->scope)
        ptx_fail(p, offset, "'%s' is already declared in this scope", name->text);
    return add_symbol(p, p->scope, name, kind);
}

uint32_t ptx_add_reg(struct ptx_parser *p, const char *name, enum ptx_type type)
{
    struct ptx_reg *reg = &PTX_PUSH(p->regs, p->reg_count, p->reg_capacity);
    reg->name = name;
    reg->type = type;
    return p->reg_count - 1;
}

static void make_regs(struct ptx_parser *p, struct ptx_symbol *symbol, enum ptx_type type,
                      unsigned vector)
{
    const char *text = symbol->name->text;
    symbol->type = type;
    symbol->vector = vector;
    symbol->reg = p->reg_count;
    symbol->count = vector;
    if (vector == 1) {
        ptx_add_reg(p, text, type);
        return;
    }
    symbol->kind = PTX_SYMBOL_REG_VECTOR;
    for (unsigned i = 0; i < vector; i++) {
        char *name = lk_arena_alloc_aligned(p->arena, symbol->name->length + 3, 1);
        snprintf(name, symbol->name->length + 3, "%s.%c", text, "xyzw"[i]);
        ptx_add_reg(p, name, type);
    }
}

struct ptx_symbol *ptx_declare_reg(struct ptx_parser *p, struct ptx_name *name, enum ptx_type type,
                                   unsigned vector, uint32_t offset)
{
    struct ptx_symbol *symbol = ptx_declare(p, name, PTX_SYMBOL_REG, offset);
    make_regs(p, symbol, type, vector);
    return symbol;
}

void ptx_declare_range(struct ptx_parser *p, struct ptx_name *prefix, enum ptx_type type,
                       unsigned vector, uint64_t count, uint32_t offset)
{
    if (count > PTX_MAX_REGISTERS)
        ptx_fail(p, offset, "%s<%llu>: at most %d registers", prefix->text,
                 (unsigned long long)count, PTX_MAX_REGISTERS);
    struct ptx_symbol *symbol = ptx_declare(p, prefix, PTX_SYMBOL_REG_RANGE, offset);
    symbol->type = type;
    symbol->vector = vector;
    symbol->count = (uint32_t)count;
    p->scope->has_range = true;
}

/* The innermost range that name is a member of: %r12 of %r<100>. */
static struct ptx_symbol *find_range(struct ptx_parser *p, struct ptx_name *name)
{
    uint32_t digits = name->length;
    while (digits > 1 && name->text[digits - 1] >= '0' && name->text[digits - 1] <= '9')
        digits--;
    /* The prefix itself may end in digits (%r1<10>), so every split is tried. */
    struct ptx_symbol *best = NULL;
    uint32_t first = name->length - digits > 7 ? name->length - 7 : digits;
    for (uint32_t split = name->length - 1; split >= first; split--) {
        if (name->text[split] == '0' && split + 1 != name->length)
            continue; /* no leading zeros */
        struct ptx_name *prefix = lk_map_get(&p->names, name->text, split);
        if (!prefix || !prefix->range)
            continue;
        uint32_t number = 0;
        for (uint32_t i = split; i < name->length; i++)
            number = number * 10 + (uint32_t)(name->text[i] - '0');
        struct ptx_symbol *range = prefix->range;
        while (range && number >= range->count)
            range = range->shadowed;
        if (range && (!best || range->scope->depth > best->scope->depth))
            best = range;
    }
    return best;
}

struct ptx_symbol *ptx_lookup(struct ptx_parser *p, struct ptx_name *name)
{
    struct ptx_symbol *symbol = name->symbol;
    uint32_t depth = symbol ? symbol->scope->depth : 0;
    bool may_be_in_range = false;
    for (struct ptx_scope *scope = p->scope; scope && scope->depth > depth; scope = scope->parent)
        may_be_in_range |= scope->has_range;
    if (!may_be_in_range)
        return symbol;
    struct ptx_symbol *range = find_range(p, name);
    if (!range || (symbol && symbol->scope->depth >= range->scope->depth))
        return symbol;
    symbol = add_symbol(p, range->scope, name, PTX_SYMBOL_REG);
    make_regs(p, symbol, range->type, range->vector);
    return symbol;
}

void ptx_add_pending(struct ptx_parser *p, struct ptx_operand *operand, struct ptx_name *name,
                     uint32_t offset)
{
    struct ptx_pending *use = lk_arena_alloc(p->arena, sizeof(*use));
    *use = (struct ptx_pending){p->scope->pending, operand, name, offset};
    p->scope->pending = use;
}
