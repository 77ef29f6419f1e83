/*
 * lexer.c: PTX text to tokens, one at a time.
 * A suffix, a directive and a vector component look alike (".x"): all are DOT tokens, and the
 * parser knows from the place which one it is. Comments and blanks are dropped here.
 */
#include "ptx/front.h"

#include <stdlib.h>

enum { CLASS_SPACE = 1, CLASS_DIGIT = 2, CLASS_LETTER = 4, CLASS_FOLLOW = 6, CLASS_HEX = 8 };

static const uint8_t classes[256] = {
    [' '] = CLASS_SPACE,
    ['\t'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,
    ['\r'] = CLASS_SPACE,
    ['\f'] = CLASS_SPACE,
    ['\v'] = CLASS_SPACE,
    ['0' ... '9'] = CLASS_DIGIT | CLASS_HEX,
    ['a' ... 'f'] = CLASS_LETTER | CLASS_HEX,
    ['A' ... 'F'] = CLASS_LETTER | CLASS_HEX,
    ['g' ... 'z'] = CLASS_LETTER,
    ['G' ... 'Z'] = CLASS_LETTER,
    ['_'] = CLASS_LETTER,
    ['$'] = CLASS_LETTER,
};

static bool is_class(char c, unsigned wanted)
{
    return classes[(unsigned char)c] & wanted;
}

/* The text ends in a NUL that is not counted in size, so looking one character ahead is safe. */

static void skip_block_comment(struct ptx_parser *p)
{
    uint32_t start = p->scan;
    const char *text = p->text;
    for (p->scan += 2; p->scan < p->size; p->scan++) {
        if (text[p->scan] == '\n') {
            p->line++;
            p->line_start = p->scan + 1;
        } else if (text[p->scan] == '*' && text[p->scan + 1] == '/') {
            p->scan += 2;
            return;
        }
    }
    ptx_fail(p, start, "comment without end: */ is missing");
}

/* LLVM, and so nvcc, marks where inline assembly begins and ends. */
static void skip_line_comment(struct ptx_parser *p)
{
    static const char begin[] = "// begin inline asm", end[] = "// end inline asm";
    const char *from = p->text + p->scan;
    const char *newline = memchr(from, '\n', p->size - p->scan);
    size_t length = newline ? (size_t)(newline - from) : p->size - p->scan;
    p->scan += (uint32_t)length;
    while (length && is_class(from[length - 1], CLASS_SPACE))
        length--;
    if (length == sizeof begin - 1 && memcmp(from, begin, length) == 0)
        p->in_asm = true;
    else if (length == sizeof end - 1 && memcmp(from, end, length) == 0)
        p->in_asm = false;
}

static void skip_blanks(struct ptx_parser *p)
{
    const char *text = p->text;
    for (;;) {
        char c = text[p->scan];
        if (is_class(c, CLASS_SPACE)) {
            p->scan++;
            if (c == '\n') {
                p->line++;
                p->line_start = p->scan;
            }
        } else if (c == '/' && text[p->scan + 1] == '/') {
            skip_line_comment(p);
        } else if (c == '/' && text[p->scan + 1] == '*') {
            skip_block_comment(p);
        } else {
            return;
        }
    }
}

static void scan_ident(struct ptx_parser *p)
{
    p->token.kind = PTX_TOKEN_IDENT;
    do
        p->scan++;
    while (is_class(p->text[p->scan], CLASS_FOLLOW));
}

/* .name, and .name::more */
static void scan_dot(struct ptx_parser *p)
{
    const char *text = p->text;
    p->token.kind = PTX_TOKEN_DOT;
    do {
        do
            p->scan++;
        while (is_class(text[p->scan], CLASS_FOLLOW));
        if (text[p->scan] != ':' || text[p->scan + 1] != ':')
            break;
        p->scan++;
    } while (is_class(text[p->scan + 1], CLASS_FOLLOW));
}

static unsigned hex_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

static void scan_hex_float(struct ptx_parser *p, unsigned digits)
{
    uint64_t bits = 0;
    uint32_t start = p->scan;
    p->scan += 2;
    for (unsigned i = 0; i < digits; i++, p->scan++) {
        if (!is_class(p->text[p->scan], CLASS_HEX))
            ptx_fail(p, start, "0%c takes exactly %u hexadecimal digits", p->text[start + 1],
                     digits);
        bits = bits << 4 | hex_value(p->text[p->scan]);
    }
    p->token.kind = PTX_TOKEN_FLOAT_HEX;
    p->token.is_single = digits == 8;
    p->token.value = bits;
    if (digits == 8) {
        uint32_t single = (uint32_t)bits;
        float real;
        memcpy(&real, &single, sizeof(real));
        p->token.real = real;
    } else {
        memcpy(&p->token.real, &bits, sizeof(bits));
    }
}

static void scan_decimal_float(struct ptx_parser *p)
{
    const char *text = p->text;
    uint32_t start = p->scan, end = start;
    while (is_class(text[end], CLASS_DIGIT))
        end++;
    if (text[end] == '.')
        for (end++; is_class(text[end], CLASS_DIGIT);)
            end++;
    if ((text[end] | 32) == 'e') {
        uint32_t digits = end + 1;
        if (text[digits] == '+' || text[digits] == '-')
            digits++;
        if (is_class(text[digits], CLASS_DIGIT))
            for (end = digits; is_class(text[end], CLASS_DIGIT);)
                end++;
    }
    char copy[64];
    if (end - start >= sizeof(copy))
        ptx_fail(p, start, "floating-point constant is too long");
    memcpy(copy, text + start, end - start);
    copy[end - start] = 0;
    p->token.kind = PTX_TOKEN_FLOAT;
    p->token.real = strtod(copy, NULL);
    p->scan = end;
}

static bool is_decimal_float(const struct ptx_parser *p)
{
    uint32_t at = p->scan;
    while (is_class(p->text[at], CLASS_DIGIT))
        at++;
    char c = p->text[at];
    if ((c | 32) == 'e') {
        char sign = p->text[at + 1];
        return is_class(sign, CLASS_DIGIT) ||
               ((sign == '+' || sign == '-') && is_class(p->text[at + 2], CLASS_DIGIT));
    }
    /* "1.5" and "1." are floats; "1.x" would be a component, and is an error later. */
    return c == '.' && !is_class(p->text[at + 1], CLASS_LETTER);
}

static void scan_number(struct ptx_parser *p)
{
    const char *text = p->text;
    uint32_t start = p->scan;
    char second = text[start] == '0' ? text[start + 1] | 32 : 0;
    if (second == 'f' || second == 'd') {
        scan_hex_float(p, second == 'f' ? 8 : 16);
    } else if (is_decimal_float(p)) {
        scan_decimal_float(p);
    } else {
        unsigned base = 10;
        if (second == 'x')
            base = 16;
        else if (second == 'b')
            base = 2;
        else if (text[start] == '0')
            base = 8;
        if (base == 16 || base == 2)
            p->scan += 2;
        uint64_t value = 0;
        uint32_t first = p->scan;
        for (; is_class(text[p->scan], CLASS_HEX) && hex_value(text[p->scan]) < base; p->scan++)
            if (__builtin_mul_overflow(value, base, &value) ||
                __builtin_add_overflow(value, hex_value(text[p->scan]), &value))
                ptx_fail(p, start, "integer constant does not fit 64 bits");
        if (p->scan == first)
            ptx_fail(p, start, "malformed number");
        p->token.kind = PTX_TOKEN_INT;
        p->token.value = value;
        p->token.is_unsigned = value > INT64_MAX;
        if (text[p->scan] == 'U' || text[p->scan] == 'u') {
            p->token.is_unsigned = true;
            p->scan++;
        }
    }
    if (is_class(text[p->scan], CLASS_FOLLOW))
        ptx_fail(p, start, "malformed number");
}

static void scan_string(struct ptx_parser *p)
{
    uint32_t start = p->scan++;
    for (; p->scan < p->size && p->text[p->scan] != '\n'; p->scan++) {
        if (p->text[p->scan] == '\\' && p->scan + 1 < p->size && p->text[p->scan + 1] != '\n') {
            p->scan++;
        } else if (p->text[p->scan] == '"') {
            p->scan++;
            p->token.kind = PTX_TOKEN_STRING;
            return;
        }
    }
    ptx_fail(p, start, "string without end: \" is missing");
}

static void scan_punct(struct ptx_parser *p)
{
    char c = p->text[p->scan], next = p->text[p->scan + 1];
    p->token.kind = PTX_TOKEN_PUNCT;
    p->token.punct = (unsigned char)c;
    bool is_double = (c == next && (c == '<' || c == '>' || c == '=' || c == '&' || c == '|')) ||
                     (next == '=' && (c == '<' || c == '>' || c == '!'));
    if (is_double)
        p->token.punct = PTX_PUNCT2(c, next);
    else if (c == 0 || !strchr("(){}[]<>,;:=+-*/%!~&|^?@", c))
        ptx_fail(p, p->scan, "unexpected character");
    p->scan += is_double ? 2 : 1;
}

void ptx_next(struct ptx_parser *p)
{
    /* After a value, % is the remainder; anywhere else it begins a register's name. */
    bool after_value = p->token.kind == PTX_TOKEN_INT ||
                       (p->token.kind == PTX_TOKEN_PUNCT && p->token.punct == ')');
    skip_blanks(p);
    char c = p->text[p->scan], next = c ? p->text[p->scan + 1] : 0;
    p->token.start = p->scan;
    p->token.punct = 0;
    if (p->scan >= p->size)
        p->token.kind = PTX_TOKEN_END;
    else if (is_class(c, CLASS_LETTER) ||
             (c == '%' && !after_value && is_class(next, CLASS_FOLLOW)))
        scan_ident(p);
    else if (c == '.' && is_class(next, CLASS_FOLLOW))
        scan_dot(p);
    else if (is_class(c, CLASS_DIGIT))
        scan_number(p);
    else if (c == '"')
        scan_string(p);
    else
        scan_punct(p);
    p->token.end = p->scan;
}

bool ptx_is_punct(const struct ptx_parser *p, int punct)
{
    return p->token.kind == PTX_TOKEN_PUNCT && p->token.punct == punct;
}

bool ptx_accept(struct ptx_parser *p, int punct)
{
    if (!ptx_is_punct(p, punct))
        return false;
    ptx_next(p);
    return true;
}

void ptx_expect(struct ptx_parser *p, int punct)
{
    char what[] = {'\'', (char)punct, '\'', 0};
    if (!ptx_accept(p, punct))
        ptx_fail_expected(p, what);
}

static bool token_is(const struct ptx_parser *p, const char *text)
{
    size_t length = p->token.end - p->token.start;
    return strlen(text) == length && memcmp(p->text + p->token.start, text, length) == 0;
}

bool ptx_is_dot(const struct ptx_parser *p, const char *text)
{
    return p->token.kind == PTX_TOKEN_DOT && token_is(p, text);
}

bool ptx_accept_dot(struct ptx_parser *p, const char *text)
{
    if (!ptx_is_dot(p, text))
        return false;
    ptx_next(p);
    return true;
}

bool ptx_is_word(const struct ptx_parser *p, const char *text)
{
    return p->token.kind == PTX_TOKEN_IDENT && token_is(p, text);
}

struct ptx_name *ptx_take_name(struct ptx_parser *p)
{
    if (p->token.kind != PTX_TOKEN_IDENT)
        ptx_fail_expected(p, "a name");
    struct ptx_name *name = ptx_intern(p, p->text + p->token.start, p->token.end - p->token.start);
    ptx_next(p);
    return name;
}

char *ptx_take_string(struct ptx_parser *p)
{
    if (p->token.kind != PTX_TOKEN_STRING)
        ptx_fail_expected(p, "a string");
    char *copy =
        lk_arena_strndup(p->arena, p->text + p->token.start + 1, p->token.end - p->token.start - 2);
    ptx_next(p);
    return copy;
}

bool ptx_parse_pragma(struct ptx_parser *p)
{
    bool is_nounroll = false;
    do
        is_nounroll |= !strcmp(ptx_take_string(p), "nounroll");
    while (ptx_accept(p, ','));
    return is_nounroll;
}

void ptx_enter(struct ptx_parser *p)
{
    if (++p->depth > PTX_MAX_NESTING)
        ptx_fail(p, p->token.start, "nested more than %d deep", PTX_MAX_NESTING);
}

void ptx_leave(struct ptx_parser *p)
{
    p->depth--;
}
