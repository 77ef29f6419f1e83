/*
 * debug.c: where instructions come from: .file, .loc, and the names in .section .debug_str.
 * Files and names are usually given after their use, so .loc keeps numbers and labels that
 * ptx_settle_locs replaces when the whole text is read. Other debug sections are skipped.
 */
#include "ptx/front.h"

static uint32_t take_number(struct ptx_parser *p, const char *what)
{
    if (p->token.kind != PTX_TOKEN_INT || p->token.value > UINT32_MAX)
        ptx_fail_expected(p, what);
    uint32_t number = (uint32_t)p->token.value;
    ptx_next(p);
    return number;
}

/* .file 1 "name" [, time, size] */
void ptx_parse_file(struct ptx_parser *p)
{
    uint32_t *number = lk_arena_alloc_aligned(p->arena, sizeof(*number), 4);
    *number = take_number(p, "a file number");
    const char *name = ptx_take_string(p);
    if (ptx_accept(p, ',')) {
        ptx_parse_integer(p, "a time");
        ptx_expect(p, ',');
        ptx_parse_integer(p, "a size");
    }
    ptx_accept(p, ';');
    PTX_PUSH(p->files, p->file_count, p->file_capacity) = name;
    lk_map_put(&p->file_numbers, (const char *)number, sizeof(*number),
               (void *)(uintptr_t)p->file_count);
}

struct place {
    uint32_t file, line, column;
};

static struct place parse_place(struct ptx_parser *p)
{
    struct place place;
    place.file = take_number(p, "a file number");
    place.line = take_number(p, "a line number");
    place.column = take_number(p, "a column");
    return place;
}

/* The latest loc at this place, which may itself be inlined somewhere; made if there is none. */
static uint32_t loc_at(struct ptx_parser *p, struct place place)
{
    uintptr_t known = (uintptr_t)lk_map_get(&p->loc_numbers, (const char *)&place, sizeof(place));
    if (known)
        return (uint32_t)known;
    struct ptx_loc *loc = &PTX_PUSH(p->locs, p->loc_count, p->loc_capacity);
    *loc = (struct ptx_loc){.file = place.file, .line = place.line, .column = place.column};
    const char *key = lk_arena_dup(p->arena, &place, sizeof(place));
    lk_map_put(&p->loc_numbers, key, sizeof(place), (void *)(uintptr_t)(p->loc_count - 1));
    return p->loc_count - 1;
}

static void parse_inlining(struct ptx_parser *p, struct place place)
{
    struct ptx_name *label = NULL;
    uint64_t addend = 0;
    uint32_t inlined_at = 0;
    do {
        if (ptx_is_word(p, "function_name")) {
            ptx_next(p);
            label = ptx_take_name(p);
            if (ptx_is_punct(p, '+'))
                addend = ptx_parse_integer(p, "an offset");
        } else if (ptx_is_word(p, "inlined_at")) {
            ptx_next(p);
            inlined_at = loc_at(p, parse_place(p));
        } else {
            ptx_fail_expected(p, "function_name or inlined_at");
        }
    } while (ptx_accept(p, ','));
    struct ptx_loc *loc = &PTX_PUSH(p->locs, p->loc_count, p->loc_capacity);
    *loc = (struct ptx_loc){
        .file = place.file, .line = place.line, .column = place.column, .inlined_at = inlined_at};
    p->loc = p->loc_count - 1;
    const char *key = lk_arena_dup(p->arena, &place, sizeof(place));
    lk_map_put(&p->loc_numbers, key, sizeof(place), (void *)(uintptr_t)p->loc);
    if (label) {
        struct ptx_loc_name name = {p->loc, label, addend};
        PTX_PUSH(p->loc_names, p->loc_name_count, p->loc_name_capacity) = name;
    }
}

/* Is the .loc before this token the program's own, in inline assembly? LLVM marks that with
 * comments (lexer.c), but nvcc removes them from what it puts into a program. Both write a tab
 * after their own .loc; the program's can be told by another blank. */
static bool is_in_asm(struct ptx_parser *p)
{
    char blank = p->text[p->token.start - 1];
    if (p->in_asm)
        return true;
    if (!p->loc_blank)
        p->loc_blank = blank;
    return p->loc_blank == '\t' && blank != '\t';
}

/* .loc 1 10 5 [, function_name label [+ n], inlined_at 1 20 3]
 * The compiler repeats no .loc after inline assembly, as it knows of none in there: one that the
 * program wrote must not move what follows, nor the assembly itself, away from its line. */
void ptx_parse_loc(struct ptx_parser *p)
{
    bool in_asm = is_in_asm(p); /* now: the next token may lie behind the end */
    uint32_t before = p->loc;
    struct place place = parse_place(p);
    if (ptx_accept(p, ',')) {
        parse_inlining(p, place);
    } else {
        /* A place seen before as inlined is a different one when it now stands alone. */
        uint32_t loc = loc_at(p, place);
        if (p->locs[loc].inlined_at) {
            PTX_PUSH(p->locs, p->loc_count, p->loc_capacity) =
                (struct ptx_loc){.file = place.file, .line = place.line, .column = place.column};
            loc = p->loc_count - 1;
            const char *key = lk_arena_dup(p->arena, &place, sizeof(place));
            lk_map_put(&p->loc_numbers, key, sizeof(place), (void *)(uintptr_t)loc);
        }
        p->loc = loc;
    }
    if (in_asm)
        p->loc = before;
    ptx_accept(p, ';');
}

/* Labels and bytes: "$L__info_string0: .b8 95, 90, 0". Anything else in it is passed over. */
static void parse_strings(struct ptx_parser *p)
{
    while (!ptx_is_punct(p, '}')) {
        if (p->token.kind == PTX_TOKEN_IDENT) {
            struct ptx_name *name = ptx_take_name(p);
            if (ptx_is_punct(p, ':'))
                lk_map_put(&p->debug_labels, name->text, name->length,
                           (void *)(uintptr_t)(p->debug_strings.size + 1));
        } else if (p->token.kind == PTX_TOKEN_INT) {
            char byte = (char)p->token.value;
            lk_buf_add(&p->debug_strings, &byte, 1);
            ptx_next(p);
        } else if (p->token.kind == PTX_TOKEN_END) {
            ptx_fail_expected(p, "'}'");
        } else {
            ptx_next(p);
        }
    }
}

void ptx_parse_section(struct ptx_parser *p)
{
    bool is_strings = ptx_is_dot(p, ".debug_str");
    if (p->token.kind != PTX_TOKEN_DOT && p->token.kind != PTX_TOKEN_IDENT)
        ptx_fail_expected(p, "a section name");
    while (p->token.kind == PTX_TOKEN_DOT || p->token.kind == PTX_TOKEN_IDENT ||
           ptx_is_punct(p, ','))
        ptx_next(p);
    uint32_t start = p->token.start;
    ptx_expect(p, '{');
    if (is_strings)
        parse_strings(p);
    while (!ptx_is_punct(p, '}')) {
        if (p->token.kind == PTX_TOKEN_END)
            ptx_fail(p, start, "section without end: '}' is missing");
        ptx_next(p);
    }
    ptx_next(p);
}

void ptx_settle_locs(struct ptx_parser *p)
{
    char end = 0;
    lk_buf_add(&p->debug_strings, &end, 1);
    const char *strings = lk_arena_dup(p->arena, p->debug_strings.data, p->debug_strings.size);
    for (uint32_t i = 0; i < p->loc_name_count; i++) {
        const struct ptx_loc_name *name = &p->loc_names[i];
        uintptr_t at =
            (uintptr_t)lk_map_get(&p->debug_labels, name->label->text, name->label->length);
        if (at && name->addend < p->debug_strings.size - (at - 1))
            p->locs[name->loc].function_name = strings + at - 1 + name->addend;
    }
    for (uint32_t i = 1; i < p->loc_count; i++)
        p->locs[i].file = (uint32_t)(uintptr_t)lk_map_get(
            &p->file_numbers, (const char *)&p->locs[i].file, sizeof(p->locs[i].file));
    for (uint32_t i = 1; i < p->loc_count; i++)
        if (p->locs[i].file)
            p->locs[i].file--;
}
