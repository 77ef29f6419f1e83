/*
 * functions.c: the heads of functions: formal parameters, directives, declarations, aliases.
 * A declaration and the definition that follows are one struct ptx_function. Bodies are in body.c.
 */
#include "ptx/front.h"

/* Parameters follow one another, each on its alignment: the layout of a kernel's block. */
static uint32_t place_params(struct ptx_parser *p, struct ptx_formal *formals, uint32_t count,
                             uint32_t offset)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_var *var = (struct ptx_var *)formals[i].var;
        if (!var)
            continue;
        end = (end + var->align - 1) & ~(uint64_t)(var->align - 1);
        var->offset = (uint32_t)end;
        var->index = i;
        end += var->size;
        if (end > 1u << 30)
            ptx_fail(p, offset, "parameters are larger than 2^30 bytes");
    }
    return (uint32_t)end;
}

static struct ptx_formal parse_formal(struct ptx_parser *p, struct ptx_function *function)
{
    struct ptx_formal formal = {.reg = PTX_NO_REG};
    if (ptx_accept_dot(p, ".param")) {
        formal.var = ptx_parse_param(p, function);
    } else if (ptx_accept_dot(p, ".reg")) {
        enum ptx_type type = ptx_take_type(p);
        uint32_t offset = p->token.start;
        struct ptx_name *name = ptx_take_name(p);
        bool is_unnamed = function->is_prototype && strcmp(name->text, "_") == 0;
        formal.reg = is_unnamed ? ptx_add_reg(p, name->text, type)
                                : ptx_declare_reg(p, name, type, 1, offset)->reg;
    } else {
        ptx_fail_expected(p, ".param or .reg");
    }
    return formal;
}

static struct ptx_formal *parse_formals(struct ptx_parser *p, struct ptx_function *function,
                                        uint32_t *count)
{
    struct ptx_formal *list = NULL;
    uint32_t capacity = 0, used = 0;
    ptx_expect(p, '(');
    if (!ptx_is_punct(p, ')')) {
        do {
            struct ptx_formal formal = parse_formal(p, function);
            if (used == capacity) {
                capacity = capacity ? capacity * 2 : 8;
                struct ptx_formal *grown = lk_arena_alloc(p->arena, capacity * sizeof(*grown));
                if (used)
                    memcpy(grown, list, used * sizeof(*grown));
                list = grown;
            }
            list[used++] = formal;
        } while (ptx_accept(p, ','));
    }
    ptx_expect(p, ')');
    *count = used;
    return list;
}

static void parse_up_to_three(struct ptx_parser *p, uint32_t numbers[3])
{
    numbers[0] = numbers[1] = numbers[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t offset = p->token.start;
        uint64_t value = ptx_parse_integer(p, "a dimension");
        if (value == 0 || value > INT32_MAX)
            ptx_fail(p, offset, "a dimension must be between 1 and 2^31 - 1");
        numbers[i] = (uint32_t)value;
        if (!ptx_accept(p, ','))
            return;
    }
    ptx_fail(p, p->token.start, "at most three dimensions");
}

static uint32_t parse_one(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    uint64_t value = ptx_parse_integer(p, "the value of a directive");
    if (value > UINT32_MAX)
        ptx_fail(p, offset, "value is too large");
    return (uint32_t)value;
}

static bool parse_directive(struct ptx_parser *p, struct ptx_function *function)
{
    if (ptx_accept_dot(p, ".maxntid"))
        parse_up_to_three(p, function->max_threads);
    else if (ptx_accept_dot(p, ".reqntid"))
        parse_up_to_three(p, function->required_threads);
    else if (ptx_accept_dot(p, ".reqnctapercluster"))
        parse_up_to_three(p, function->required_cluster);
    else if (ptx_accept_dot(p, ".minnctapersm"))
        function->min_blocks = parse_one(p);
    else if (ptx_accept_dot(p, ".maxnctapersm"))
        parse_one(p);
    else if (ptx_accept_dot(p, ".maxnreg"))
        function->max_regs = parse_one(p);
    else if (ptx_accept_dot(p, ".maxclusterrank"))
        function->max_cluster_rank = parse_one(p);
    else if (ptx_accept_dot(p, ".explicitcluster"))
        function->explicit_cluster = true;
    else if (ptx_accept_dot(p, ".blocksareclusters"))
        ; /* says how the host counts blocks; the launch already did */
    else if (ptx_accept_dot(p, ".noreturn"))
        function->is_noreturn = true;
    else if (ptx_accept_dot(p, ".abi_preserve") || ptx_accept_dot(p, ".abi_preserve_control"))
        parse_one(p);
    else if (ptx_accept_dot(p, ".pragma")) {
        function->keeps_loops |= ptx_parse_pragma(p);
        ptx_accept(p, ';');
    } else
        return false;
    return true;
}

static void own_formals(struct ptx_function *function, struct ptx_formal *formals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (formals[i].var)
            ((struct ptx_var *)formals[i].var)->owner = function;
}

/* The object for a name; the symbol goes to module scope, though the formals' scope is open. */
static struct ptx_function *place_function(struct ptx_parser *p, struct ptx_name *name,
                                           uint32_t offset)
{
    struct ptx_symbol *old = name->symbol;
    while (old && old->scope->depth > 0)
        old = old->shadowed;
    if (old && old->kind == PTX_SYMBOL_FUNCTION)
        return old->function;
    if (old)
        ptx_fail(p, offset, "'%s' is already declared as something else", name->text);
    struct ptx_function *function = lk_arena_alloc(p->arena, sizeof(*function));
    function->name = name->text;
    function->module = p->module;
    function->index = p->function_count;
    PTX_PUSH_POINTER(p->functions, p->function_count, p->function_capacity) = function;
    struct ptx_scope *scope = p->scope;
    while (p->scope->depth > 0)
        p->scope = p->scope->parent;
    ptx_declare(p, name, PTX_SYMBOL_FUNCTION, offset)->function = function;
    p->scope = scope;
    return function;
}

static void start_function(struct ptx_parser *p, struct ptx_function *function)
{
    p->function = function;
    p->reg_count = p->inst_count = p->local_var_count = 0;
    p->loc = 0;
    p->in_asm = false;
    p->loc_blank = 0;
    ptx_open_scope(p);
}

static void end_function(struct ptx_parser *p, struct ptx_function *function)
{
    ptx_close_scope(p);
    function->regs = lk_arena_dup(p->arena, p->regs, p->reg_count * sizeof(*p->regs));
    function->reg_count = p->reg_count;
    function->insts = lk_arena_dup(p->arena, p->insts, p->inst_count * sizeof(*p->insts));
    function->inst_count = p->inst_count;
    function->vars = lk_arena_dup(p->arena, p->local_vars, p->local_var_count * sizeof(void *));
    function->var_count = p->local_var_count;
    p->function = NULL;
}

/* What the head says replaces what an earlier declaration said. */
static void take_head(struct ptx_function *function, const struct ptx_function *head)
{
    function->is_entry = head->is_entry;
    function->keeps_loops |= head->keeps_loops;
    function->is_extern = head->is_extern;
    function->is_visible |= head->is_visible;
    function->is_weak |= head->is_weak;
    function->params = head->params;
    function->returns = head->returns;
    function->param_count = head->param_count;
    function->return_count = head->return_count;
    function->line = head->line;
    own_formals(function, function->params, function->param_count);
    own_formals(function, function->returns, function->return_count);
}

void ptx_parse_function(struct ptx_parser *p, struct ptx_linkage linkage, bool is_entry)
{
    struct ptx_function head = {.is_entry = is_entry,
                                .is_extern = linkage.is_extern,
                                .is_visible = linkage.is_visible,
                                .is_weak = linkage.is_weak,
                                .keeps_loops = p->keeps_loops,
                                .module = p->module,
                                .line = p->line};
    if (ptx_accept_dot(p, ".attribute")) { /* .attribute(.unified(..)) */
        while (!ptx_is_punct(p, ')') && p->token.kind != PTX_TOKEN_END)
            ptx_next(p);
        while (ptx_accept(p, ')'))
            ;
    }
    start_function(p, &head);
    if (!is_entry && ptx_is_punct(p, '('))
        head.returns = parse_formals(p, &head, &head.return_count);
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    struct ptx_function *function = place_function(p, name, offset);
    if (ptx_is_punct(p, '('))
        head.params = parse_formals(p, &head, &head.param_count);
    bool was_defined = function->inst_count > 0;
    struct ptx_function kept = *function;
    take_head(function, &head);
    p->function = function;
    while (parse_directive(p, function))
        ;
    place_params(p, function->returns, function->return_count, offset);
    function->param_bytes = place_params(p, function->params, function->param_count, offset);
    if (ptx_is_punct(p, '{')) {
        if (was_defined)
            ptx_fail(p, offset, "function '%s' is already defined", name->text);
        function->is_extern = false;
        ptx_parse_body(p);
        end_function(p, function);
        ptx_check_function_sizes(p, function, offset);
    } else {
        ptx_expect(p, ';');
        end_function(p, function);
        if (was_defined) /* a declaration after the definition adds nothing */
            *function = kept;
    }
}

/* After "name: .callprototype": (returns) _ (parameters) [directives] ; */
struct ptx_function *ptx_parse_prototype(struct ptx_parser *p, struct ptx_name *name)
{
    struct ptx_function *prototype = lk_arena_alloc(p->arena, sizeof(*prototype));
    prototype->name = name->text;
    prototype->is_prototype = true;
    prototype->module = p->module;
    prototype->line = p->line;
    uint32_t offset = p->token.start;
    ptx_open_scope(p);
    if (ptx_is_punct(p, '('))
        prototype->returns = parse_formals(p, prototype, &prototype->return_count);
    ptx_take_name(p);
    if (ptx_is_punct(p, '('))
        prototype->params = parse_formals(p, prototype, &prototype->param_count);
    while (parse_directive(p, prototype))
        ;
    ptx_expect(p, ';');
    ptx_close_scope(p);
    place_params(p, prototype->returns, prototype->return_count, offset);
    prototype->param_bytes = place_params(p, prototype->params, prototype->param_count, offset);
    return prototype;
}

static struct ptx_function *take_function(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    struct ptx_name *name = ptx_take_name(p);
    struct ptx_symbol *symbol = name->symbol;
    if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION)
        ptx_fail(p, offset, "'%s' is not a function declared above", name->text);
    return symbol->function;
}

/* After ".alias": new name, function */
void ptx_parse_alias(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    struct ptx_function *alias = take_function(p);
    ptx_expect(p, ',');
    struct ptx_function *function = take_function(p);
    ptx_expect(p, ';');
    if (alias->inst_count || alias->alias_of)
        ptx_fail(p, offset, "'%s' is already defined", alias->name);
    unsigned length = 0;
    for (const struct ptx_function *at = function; at; at = at->alias_of) {
        if (at == alias)
            ptx_fail(p, offset, "'%s' would be an alias of itself", alias->name);
        if (++length > PTX_MAX_NESTING)
            ptx_fail(p, offset, "a chain of more than %d aliases", PTX_MAX_NESTING);
    }
    alias->alias_of = function;
}
