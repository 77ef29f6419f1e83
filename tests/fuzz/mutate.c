/*
 * mutate.c: changes to PTX text: numbers, types, spaces, registers and offsets are exchanged, lines
 * are moved, copied and dropped. See mutate.h.
 */
#include "mutate.h"

#include "ptx/ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void text_replace(struct text *text, size_t at, size_t old, const char *with, size_t size)
{
    if (at + old > text->size || text->size - old + size > text->most)
        return;
    memmove(text->data + at + size, text->data + at + old, text->size - at - old);
    memcpy(text->data + at, with, size);
    text->size = text->size - old + size;
}

/* Words ---------------------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == ':';
}

enum word { NUMBER, SUFFIX, REGISTER, NAME };

static bool word_at(const struct text *text, size_t at, enum word kind, size_t *size)
{
    char before = at ? text->data[at - 1] : ' ';
    char c = text->data[at];
    bool marked = c == '.' || c == '%';
    if (in_word(before) || before == '.' || before == '%')
        if (!marked || before == '%')
            return false;
    size_t end = at + marked;
    if (end >= text->size || !in_word(text->data[end]))
        return false;
    bool digit = isdigit((unsigned char)text->data[end]);
    bool fits = kind == SUFFIX     ? c == '.' && !digit
                : kind == REGISTER ? c == '%'
                : kind == NUMBER   ? digit && !marked
                                   : !digit && !marked;
    if (!fits)
        return false;
    while (end < text->size && in_word(text->data[end]))
        end++;
    *size = end - at;
    return *size < 64;
}

/* A random word of a kind: the next one from a random place on. */
static bool find_word(const struct text *text, struct dice *dice, enum word kind, size_t *at,
                      size_t *size)
{
    if (!text->size)
        return false;
    size_t start = roll(dice, text->size);
    for (size_t i = 0; i < text->size; i++) {
        *at = (start + i) % text->size;
        if (word_at(text, *at, kind, size))
            return true;
    }
    return false;
}

static void change_number(struct text *text, struct dice *dice)
{
    size_t at, size;
    char number[32];
    if (find_word(text, dice, NUMBER, &at, &size))
        text_replace(text, at, size, number, write_number(dice, number, sizeof(number)));
}

static void change_suffix(struct text *text, struct dice *dice)
{
    static const char *const spaces[] = {".global", ".shared", ".local", ".param", ".const", ""};
    static const char *const vectors[] = {".v2", ".v4", ".v8", ""};
    char suffix[64];
    size_t at, size;
    if (!find_word(text, dice, SUFFIX, &at, &size))
        return;
    bool is_space = false, is_vector = size == 3 && text->data[at + 1] == 'v';
    for (unsigned i = 0; i < 5; i++)
        is_space |= strlen(spaces[i]) == size && memcmp(spaces[i], text->data + at, size) == 0;
    bool is_type = false;
    for (unsigned i = 1; i < PTX_TYPE_COUNT; i++)
        is_type |= strlen(ptx_type_name(i)) + 1 == size &&
                   memcmp(ptx_type_name(i), text->data + at + 1, size - 1) == 0;
    if (is_space)
        snprintf(suffix, sizeof(suffix), "%s", spaces[roll(dice, 6)]);
    else if (is_vector)
        snprintf(suffix, sizeof(suffix), "%s", vectors[roll(dice, 4)]);
    else if (is_type)
        snprintf(suffix, sizeof(suffix), ".%s",
                 ptx_type_name((enum ptx_type)(1 + roll(dice, PTX_TYPE_COUNT - 1))));
    else
        snprintf(suffix, sizeof(suffix), ".%s",
                 ptx_mod_name((enum ptx_mod)(1 + roll(dice, PTX_MOD_COUNT - 1))));
    text_replace(text, at, size, suffix, strlen(suffix));
}

/* A register or name takes the place of another. */
static void exchange_words(struct text *text, struct dice *dice, enum word kind)
{
    size_t from, from_size, to, to_size;
    char word[64];
    if (!find_word(text, dice, kind, &from, &from_size) ||
        !find_word(text, dice, kind, &to, &to_size))
        return;
    memcpy(word, text->data + from, from_size);
    text_replace(text, to, to_size, word, from_size);
}

static void change_offset(struct text *text, struct dice *dice)
{
    char offset[40] = "+";
    if (!text->size)
        return;
    size_t start = roll(dice, text->size);
    const char *close = memchr(text->data + start, ']', text->size - start);
    if (!close)
        return;
    size_t end = (size_t)(close - text->data), from = end;
    while (from && text->data[from - 1] != '[' && text->data[from - 1] != '+')
        from--;
    bool has_offset = from && text->data[from - 1] == '+';
    size_t length = 1 + write_number(dice, offset + 1, sizeof(offset) - 1);
    if (has_offset)
        text_replace(text, from, end - from, offset + 1, length - 1);
    else
        text_replace(text, end, 0, offset, length);
}

/* Lines ---------------------------------------------------------------------------------------- */

static void random_line(const struct text *text, struct dice *dice, size_t *at, size_t *size)
{
    *at = roll(dice, text->size);
    while (*at && text->data[*at - 1] != '\n')
        --*at;
    const char *end = memchr(text->data + *at, '\n', text->size - *at);
    *size = end ? (size_t)(end + 1 - text->data) - *at : text->size - *at;
}

/* A place for an instruction: after a line that ends in one, inside a body. */
static size_t place_for_line(const struct text *text, struct dice *dice)
{
    size_t at = 0, size = 0;
    for (int i = 0; i < 8; i++) {
        random_line(text, dice, &at, &size);
        if (size > 4 && isspace((unsigned char)text->data[at]) && text->data[at + size - 2] == ';')
            break;
    }
    return at + size;
}

static void copy_line(struct text *text, struct dice *dice, const struct text *from)
{
    char line[512];
    size_t at, size;
    if (!from->size)
        return;
    random_line(from, dice, &at, &size);
    if (size > sizeof(line))
        return;
    memcpy(line, from->data + at, size);
    text_replace(text, place_for_line(text, dice), 0, line, size);
}

static void drop_line(struct text *text, struct dice *dice)
{
    size_t at, size;
    random_line(text, dice, &at, &size);
    text_replace(text, at, size, "", 0);
}

static void insert_instruction(struct text *text, struct dice *dice)
{
    char line[512];
    size_t size = generate_instruction(dice, line, sizeof(line));
    text_replace(text, place_for_line(text, dice), 0, line, size);
}

void mutate_text(struct text *text, struct dice *dice, const struct text *other)
{
    bool generates = memmem(text->data, text->size, "%fz_r", 5) != NULL;
    if (!text->size)
        return;
    switch (roll(dice, generates ? 16 : 11)) {
    case 0:
    case 1:
        change_number(text, dice);
        break;
    case 2:
    case 3:
        change_suffix(text, dice);
        break;
    case 4:
    case 5:
        exchange_words(text, dice, REGISTER);
        break;
    case 6:
        change_offset(text, dice);
        break;
    case 7:
        copy_line(text, dice, text);
        break;
    case 8:
        drop_line(text, dice);
        break;
    case 9:
        copy_line(text, dice, other ? other : text);
        break;
    case 10:
        exchange_words(text, dice, NAME);
        break;
    default:
        insert_instruction(text, dice);
    }
}
