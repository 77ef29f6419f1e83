/*
 * variables.c: declarations of variables, registers and formal parameters.
 * Everything up to the '=' of an initialiser; initialisers.c does the rest.
 */
#include "ptx/front.h"

#define MAX_DIMS 16

static bool accept_type(struct ptx_parser *p, enum ptx_type *type)
{
    if (p->token.kind != PTX_TOKEN_DOT)
        return false;
    unsigned code =
        ptx_find_suffix(p->text + p->token.start + 1, p->token.end - p->token.start - 1);
    if (code <= PTX_MOD_COUNT)
        return false;
    *type = code - PTX_MOD_COUNT;
    ptx_next(p);
    return true;
}

enum ptx_type ptx_take_type(struct ptx_parser *p)
{
    enum ptx_type type;
    if (!accept_type(p, &type))
        ptx_fail_expected(p, "a type such as .u32");
    return type;
}

/* What stands before a declaration's names. */
struct declaration {
    struct ptx_linkage linkage;
    enum ptx_space space;
    enum ptx_type type;
    unsigned vector;
    uint32_t align; /* 0: natural */
    bool is_managed, is_pointer;
};

static void parse_attribute(struct ptx_parser *p, struct declaration *declaration)
{
    ptx_expect(p, '(');
    do {
        if (ptx_accept_dot(p, ".managed")) {
            declaration->is_managed = true;
        } else if (ptx_accept_dot(p, ".unified")) { /* .unified(uuid, uuid) */
            ptx_expect(p, '(');
            do
                ptx_parse_integer(p, "an identifier");
            while (ptx_accept(p, ','));
            ptx_expect(p, ')');
        } else {
            ptx_fail_expected(p, ".managed or .unified");
        }
    } while (ptx_accept(p, ','));
    ptx_expect(p, ')');
}

static uint32_t parse_align(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    uint64_t align = ptx_parse_integer(p, "an alignment");
    if (align == 0 || align > 1u << 20 || (align & (align - 1)))
        ptx_fail(p, offset, "an alignment must be a power of two, up to 2^20");
    return (uint32_t)align;
}

/* .param .u64 .ptr .global .align 8 name: what the pointer points to does not matter here. */
static void parse_pointer(struct ptx_parser *p)
{
    static const char *const spaces[] = {".const", ".global", ".local", ".shared"};
    for (unsigned i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (ptx_accept_dot(p, spaces[i]))
            break;
    if (ptx_accept_dot(p, ".align"))
        parse_align(p);
}

static bool accept_vector(struct ptx_parser *p, unsigned *vector)
{
    static const char *const texts[] = {".v2", ".v4", ".v8"};
    for (unsigned i = 0; i < 3; i++)
        if (ptx_accept_dot(p, texts[i])) {
            *vector = 2u << i;
            return true;
        }
    return false;
}

static void parse_prefix(struct ptx_parser *p, struct declaration *declaration)
{
    declaration->vector = 1;
    for (;;) {
        if (ptx_accept_dot(p, ".align"))
            declaration->align = parse_align(p);
        else if (ptx_accept_dot(p, ".attribute"))
            parse_attribute(p, declaration);
        else if (!accept_vector(p, &declaration->vector))
            break;
    }
    uint32_t offset = p->token.start;
    declaration->type = ptx_take_type(p);
    for (;;) { /* some write these after the type */
        if (ptx_accept_dot(p, ".align"))
            declaration->align = parse_align(p);
        else if (ptx_accept_dot(p, ".ptr"))
            declaration->is_pointer = true, parse_pointer(p);
        else
            break;
    }
    bool is_opaque = ptx_type_kind(declaration->type) == PTX_KIND_OPAQUE;
    if (declaration->space != PTX_SPACE_REG &&
        (ptx_type_bits(declaration->type) < 8 || (is_opaque && declaration->vector != 1)))
        ptx_fail(p, offset, "variables in memory cannot have the type .%s",
                 ptx_type_name(declaration->type));
}

/* Reads [4][8] or []; returns how many dimensions, with *is_open set for an open first one. */
static unsigned parse_dims(struct ptx_parser *p, uint64_t *dims, bool *is_open)
{
    unsigned count = 0;
    *is_open = false;
    while (ptx_accept(p, '[')) {
        uint32_t offset = p->token.start;
        if (count == MAX_DIMS)
            ptx_fail(p, offset, "more than %d dimensions", MAX_DIMS);
        if (ptx_is_punct(p, ']')) {
            if (count)
                ptx_fail(p, offset, "only the first dimension can be left open");
            *is_open = true;
            dims[count++] = 0;
        } else {
            dims[count] = ptx_parse_integer(p, "an array size");
            if (dims[count] > PTX_MAX_VAR_BYTES)
                ptx_fail(p, offset, "array size is negative or beyond 2^40");
            count++;
        }
        ptx_expect(p, ']');
    }
    return count;
}

static void set_size(struct ptx_parser *p, struct ptx_var *var, const uint64_t *dims,
                     unsigned dim_count, uint32_t offset)
{
    uint64_t element = (uint64_t)ptx_type_bits(var->type) / 8 * var->vector;
    if (!var->align)
        var->align = (uint32_t)element;
    var->size = element;
    for (unsigned i = 0; i < dim_count; i++)
        if (__builtin_mul_overflow(var->size, dims[i], &var->size) || var->size > PTX_MAX_VAR_BYTES)
            ptx_fail(p, offset, "'%s' is larger than 2^40 bytes", var->name);
}

/* Global and constant variables of a function live as long as the module; only their names are the
 * function's own. */
static void add_to_list(struct ptx_parser *p, struct ptx_var *var, enum ptx_space space)
{
    if (p->function && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST &&
        space != PTX_SPACE_TEX) {
        var->owner = p->function;
        var->index = p->local_var_count;
        PTX_PUSH_POINTER(p->local_vars, p->local_var_count, p->local_var_capacity) = var;
    } else {
        var->index = p->var_count;
        PTX_PUSH_POINTER(p->vars, p->var_count, p->var_capacity) = var;
    }
}

/* Finds or makes the object: an .extern declaration and the definition are the same variable. */
static struct ptx_var *place_var(struct ptx_parser *p, struct ptx_name *name,
                                 const struct declaration *declaration, uint32_t offset,
                                 bool *is_known)
{
    struct ptx_symbol *old = name->symbol;
    bool is_extern = declaration->linkage.is_extern;
    *is_known = false;
    if (old && old->scope == p->scope && old->kind == PTX_SYMBOL_VAR &&
        (old->var->is_extern || is_extern)) {
        *is_known = !old->var->is_extern;
        return old->var;
    }
    struct ptx_var *var = lk_arena_alloc(p->arena, sizeof(*var));
    ptx_declare(p, name, PTX_SYMBOL_VAR, offset)->var = var;
    add_to_list(p, var, declaration->space);
    return var;
}

static void fill_var(struct ptx_parser *p, struct ptx_var *var, const struct declaration *from,
                     struct ptx_name *name)
{
    var->name = name->text;
    var->space = from->space;
    var->type = from->type;
    var->vector = (uint8_t)from->vector;
    var->align = from->align;
    var->is_extern = from->linkage.is_extern;
    var->is_visible = from->linkage.is_visible;
    var->is_weak = from->linkage.is_weak;
    var->is_common = from->linkage.is_common;
    var->is_managed = from->is_managed;
    var->is_pointer = from->is_pointer;
    var->line = p->line;
}

/* .samplerref s = { addr_mode_0 = wrap, ... }: nothing of it matters here. */
static void skip_opaque_initialiser(struct ptx_parser *p)
{
    ptx_expect(p, '{');
    while (!ptx_is_punct(p, '}')) {
        if (p->token.kind == PTX_TOKEN_END)
            ptx_fail_expected(p, "'}'");
        ptx_next(p);
    }
    ptx_next(p);
}

static void parse_variable(struct ptx_parser *p, const struct declaration *declaration)
{
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    uint64_t dims[MAX_DIMS + 1];
    bool is_open, is_known;
    struct ptx_var *var = place_var(p, name, declaration, offset, &is_known);
    struct ptx_var ignored = {0};
    if (is_known) /* an .extern after the definition adds nothing */
        var = &ignored;
    uint32_t index = var->index;
    fill_var(p, var, declaration, name);
    var->index = index;
    unsigned dim_count = parse_dims(p, dims, &is_open);
    set_size(p, var, dims, dim_count, offset);
    if (ptx_is_punct(p, '=')) {
        bool is_opaque = ptx_type_kind(var->type) == PTX_KIND_OPAQUE;
        if (var->is_extern || (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST))
            ptx_fail(p, p->token.start, "only .global and .const definitions can be initialised");
        ptx_next(p);
        if (is_opaque)
            skip_opaque_initialiser(p);
        else
            ptx_parse_initialiser(p, var, dims, dim_count, is_open);
    } else if (is_open && !var->is_extern && var->space != PTX_SPACE_PARAM) {
        ptx_fail(p, offset, "'%s' has no size: an open array must be .extern or initialised",
                 name->text);
    }
}

static bool accept_space(struct ptx_parser *p, enum ptx_space *space)
{
    static const struct {
        const char *text;
        enum ptx_space space;
    } spaces[] = {
        {".global", PTX_SPACE_GLOBAL}, {".shared", PTX_SPACE_SHARED}, {".const", PTX_SPACE_CONST},
        {".local", PTX_SPACE_LOCAL},   {".param", PTX_SPACE_PARAM},   {".tex", PTX_SPACE_TEX},
    };
    for (unsigned i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (ptx_accept_dot(p, spaces[i].text)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

void ptx_parse_variables(struct ptx_parser *p, struct ptx_linkage linkage)
{
    struct declaration declaration = {.linkage = linkage};
    uint32_t offset = p->token.start;
    if (!accept_space(p, &declaration.space))
        ptx_fail_expected(p, "a state space such as .global");
    if (!p->function &&
        (declaration.space == PTX_SPACE_PARAM || declaration.space == PTX_SPACE_LOCAL))
        ptx_fail(p, offset, ".param and .local variables belong inside a function");
    if (ptx_accept(p, '[')) { /* .const[bank], long gone from PTX */
        ptx_parse_integer(p, "a bank");
        ptx_expect(p, ']');
    }
    parse_prefix(p, &declaration);
    do
        parse_variable(p, &declaration);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

struct ptx_var *ptx_parse_param(struct ptx_parser *p, struct ptx_function *owner)
{
    struct declaration declaration = {.space = PTX_SPACE_PARAM};
    parse_prefix(p, &declaration);
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    struct ptx_var *var = lk_arena_alloc(p->arena, sizeof(*var));
    uint64_t dims[MAX_DIMS + 1];
    bool is_open;
    fill_var(p, var, &declaration, name);
    set_size(p, var, dims, parse_dims(p, dims, &is_open), offset);
    var->owner = owner;
    if (strcmp(name->text, "_") != 0)
        ptx_declare(p, name, PTX_SYMBOL_VAR, offset)->var = var;
    return var;
}

/* After ".reg": registers of a body. */
void ptx_parse_registers(struct ptx_parser *p)
{
    struct declaration declaration = {.space = PTX_SPACE_REG};
    parse_prefix(p, &declaration);
    do {
        uint32_t offset = p->token.start;
        struct ptx_name *name = ptx_take_name(p);
        if (declaration.vector > 4)
            ptx_fail(p, offset, "registers have at most four components");
        if (ptx_accept(p, '<')) {
            /* Not a whole expression: '>' would end up in it. */
            if (p->token.kind != PTX_TOKEN_INT)
                ptx_fail_expected(p, "a number of registers");
            uint64_t count = p->token.value;
            ptx_next(p);
            ptx_expect(p, '>');
            ptx_declare_range(p, name, declaration.type, declaration.vector, count, offset);
        } else {
            ptx_declare_reg(p, name, declaration.type, declaration.vector, offset);
        }
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}
