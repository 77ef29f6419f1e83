/*
 * parser.c: ptx_parse, and the directives of a module.
 * Read this file first: it shows the whole way from text to a checked module. Nothing here or below
 * recurses without a limit, and memory grows with the text only.
 */
#include "ptx/front.h"

#include <stdlib.h>

_Noreturn void ptx_fail(struct ptx_parser *p, uint32_t offset, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    p->message.size = 0;
    lk_buf_place(&p->message, p->name, p->text, p->size, offset, text.data);
    lk_buf_free(&text);
    longjmp(p->failed, 1);
}

_Noreturn void ptx_fail_expected(struct ptx_parser *p, const char *what)
{
    uint32_t length = p->token.end - p->token.start;
    if (p->token.kind == PTX_TOKEN_END)
        ptx_fail(p, p->size, "%s expected, but the text ends", what);
    ptx_fail(p, p->token.start, "%s expected, not '%.*s'", what, length > 60 ? 60 : (int)length,
             p->text + p->token.start);
}

void *ptx_grow(void *list, uint32_t *count, uint32_t *capacity, size_t size)
{
    if (*count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        list = lk_realloc(list, *capacity * size);
    }
    memset((char *)list + *count * size, 0, size);
    ++*count;
    return list;
}

/* .version 8.4 */
static void parse_version(struct ptx_parser *p)
{
    /* The lexer reads 8.4 as a number with a fraction; take it apart from the text. */
    const char *text = p->text + p->token.start;
    char *end = NULL;
    if (p->token.kind != PTX_TOKEN_FLOAT)
        ptx_fail_expected(p, "a version such as 8.0");
    p->module->version_major = (uint32_t)strtoul(text, &end, 10);
    if (*end == '.')
        p->module->version_minor = (uint32_t)strtoul(end + 1, NULL, 10);
    if (p->module->version_major > 99)
        ptx_fail(p, p->token.start, "there is no such PTX version");
    ptx_next(p);
}

/* .target sm_90a, debug, texmode_independent */
static void parse_target(struct ptx_parser *p)
{
    do {
        uint32_t offset = p->token.start;
        const char *text = ptx_take_name(p)->text;
        if (strncmp(text, "sm_", 3) != 0 && strncmp(text, "compute_", 8) != 0)
            continue;
        char *end;
        const char *digits = strchr(text, '_') + 1;
        unsigned long target = strtoul(digits, &end, 10);
        if (end == digits || target > 999 || (*end && end[1]) || (*end && !strchr("af", *end)))
            ptx_fail(p, offset, "unknown target '%s'", text);
        p->module->target = (uint32_t)target;
        p->module->target_suffix = *end;
    } while (ptx_accept(p, ','));
}

static void parse_address_size(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    uint64_t size = ptx_parse_integer(p, "the address size");
    if (size != 32 && size != 64)
        ptx_fail(p, offset, "the address size is 32 or 64");
    p->module->address_size = (uint32_t)size;
}

static struct ptx_linkage parse_linkage(struct ptx_parser *p)
{
    struct ptx_linkage linkage = {0};
    for (;;) {
        if (ptx_accept_dot(p, ".visible"))
            linkage.is_visible = true;
        else if (ptx_accept_dot(p, ".extern"))
            linkage.is_extern = true;
        else if (ptx_accept_dot(p, ".weak"))
            linkage.is_weak = true;
        else if (ptx_accept_dot(p, ".common"))
            linkage.is_common = true;
        else
            return linkage;
    }
}

static void parse_definition(struct ptx_parser *p)
{
    struct ptx_linkage linkage = parse_linkage(p);
    if (ptx_accept_dot(p, ".func"))
        ptx_parse_function(p, linkage, false);
    else if (ptx_accept_dot(p, ".entry"))
        ptx_parse_function(p, linkage, true);
    else if (p->token.kind == PTX_TOKEN_DOT)
        ptx_parse_variables(p, linkage);
    else
        ptx_fail_expected(p, "a directive");
}

static void parse_directive(struct ptx_parser *p)
{
    if (ptx_accept(p, ';'))
        return;
    if (ptx_accept_dot(p, ".version")) {
        parse_version(p);
    } else if (ptx_accept_dot(p, ".target")) {
        parse_target(p);
    } else if (ptx_accept_dot(p, ".address_size")) {
        parse_address_size(p);
    } else if (ptx_accept_dot(p, ".file")) {
        ptx_parse_file(p);
    } else if (ptx_accept_dot(p, ".loc")) {
        ptx_parse_loc(p);
    } else if (ptx_accept_dot(p, ".section")) {
        ptx_parse_section(p);
    } else if (ptx_accept_dot(p, ".alias")) {
        ptx_parse_alias(p);
    } else if (ptx_accept_dot(p, ".pragma")) {
        p->keeps_loops |= ptx_parse_pragma(p);
        ptx_expect(p, ';');
    } else {
        parse_definition(p);
    }
}

static void finish_module(struct ptx_parser *p)
{
    struct ptx_module *module = p->module;
    struct lk_arena *arena = p->arena;
    ptx_settle_locs(p);
    module->functions = lk_arena_dup(arena, p->functions, p->function_count * sizeof(void *));
    module->function_count = p->function_count;
    module->vars = lk_arena_dup(arena, p->vars, p->var_count * sizeof(void *));
    module->var_count = p->var_count;
    module->files = lk_arena_dup(arena, p->files, p->file_count * sizeof(*p->files));
    module->file_count = p->file_count;
    module->locs = lk_arena_dup(arena, p->locs, p->loc_count * sizeof(*p->locs));
    module->loc_count = p->loc_count;
}

/* Not inlined into ptx_parse: its variables must not live in the frame that longjmp returns to. */
static __attribute__((noinline)) void parse_module(struct ptx_parser *p)
{
    PTX_PUSH(p->files, p->file_count, p->file_capacity) = "";
    PTX_PUSH(p->locs, p->loc_count, p->loc_capacity) = (struct ptx_loc){0};
    p->module->address_size = 64;
    ptx_open_scope(p);
    ptx_next(p);
    if (!ptx_is_dot(p, ".version"))
        ptx_fail_expected(p, ".version (PTX text begins so)");
    while (p->token.kind != PTX_TOKEN_END)
        parse_directive(p);
    if (!p->module->target)
        ptx_fail(p, p->size, "the text names no .target");
    ptx_check_module_sizes(p);
    finish_module(p);
}

static void free_parser(struct ptx_parser *p)
{
    lk_map_free(&p->names);
    lk_map_free(&p->opcodes);
    lk_map_free(&p->file_numbers);
    lk_map_free(&p->loc_numbers);
    lk_map_free(&p->debug_labels);
    lk_buf_free(&p->debug_strings);
    lk_buf_free(&p->scratch);
    free(p->regs);
    free(p->insts);
    free(p->local_vars);
    free(p->items);
    free(p->functions);
    free(p->vars);
    free(p->relocs);
    free(p->init);
    free(p->files);
    free(p->locs);
    free(p->loc_names);
    free(p);
}

struct ptx_module *ptx_parse(const char *name, const char *text, size_t size, char **message)
{
    struct ptx_parser *p = lk_alloc_zeroed(sizeof(*p));
    const char *end = size ? memchr(text, 0, size) : NULL;
    struct lk_arena *arena = lk_arena_create();
    struct ptx_module *module = lk_arena_alloc(arena, sizeof(*module));
    *message = NULL;
    size = end ? (size_t)(end - text) : size;
    bool is_too_large = size > PTX_MAX_TEXT_BYTES;
    p->size = is_too_large ? 0 : (uint32_t)size;
    p->name = module->name =
        lk_arena_strndup(arena, name ? name : "<ptx>", strlen(name ? name : "<ptx>"));
    p->text = module->text = lk_arena_strndup(arena, text, p->size);
    p->line = 1;
    p->arena = module->arena = arena;
    p->module = module;
    if (setjmp(p->failed) == 0) {
        if (is_too_large)
            ptx_fail(p, 0, "the text is larger than 1 GiB");
        parse_module(p);
        lk_buf_free(&p->message);
        free_parser(p);
        return module;
    }
    *message = p->message.data;
    lk_arena_destroy(arena);
    free_parser(p);
    return NULL;
}

void ptx_free(struct ptx_module *module)
{
    if (module)
        lk_arena_destroy(module->arena);
}

const struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

const struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->var_count; i++)
        if (strcmp(module->vars[i]->name, name) == 0)
            return module->vars[i];
    return NULL;
}
