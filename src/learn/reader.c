/*
 * reader.c: fields of a lesson's JSON; see reader.h.
 */
#include "learn/reader.h"

#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reader_fail(struct lesson_reader *reader, const char *field, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    if (reader->error)
        return false;
    lk_buf_printf(&text, "%s: %s", reader->path, reader->where);
    if (field)
        lk_buf_printf(&text, "%s%s", *reader->where ? "." : "", field);
    lk_buf_printf(&text, "%s", *reader->where || field ? ": " : "");
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    reader->error = text.data;
    return false;
}

size_t reader_enter(struct lesson_reader *reader, const char *field)
{
    size_t end = strlen(reader->where);
    snprintf(reader->where + end, sizeof reader->where - end, ".%s", field);
    return end;
}

void reader_leave(struct lesson_reader *reader, size_t place)
{
    reader->where[place] = 0;
}

static bool is_among(const char *key, const char *allowed)
{
    size_t length = strlen(key);
    for (const char *at = allowed; (at = strstr(at, key)); at += length)
        if ((at == allowed || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

bool reader_keys(struct lesson_reader *reader, json_t *object, const char *allowed)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return reader_fail(reader, NULL, "must be an object with some of: %s", allowed);
    json_object_foreach(object, key, value) if (!is_among(key, allowed)) return reader_fail(
        reader, key, "there is no such field; there are: %s", allowed);
    return true;
}

const char *reader_text(struct lesson_reader *reader, json_t *object, const char *field,
                        bool needed)
{
    json_t *value = json_object_get(object, field);
    if (json_is_string(value) && *json_string_value(value))
        return json_string_value(value);
    if (value || needed)
        reader_fail(reader, field, value ? "must be a text that is not empty" : "is missing");
    return NULL;
}

json_t *reader_array(struct lesson_reader *reader, json_t *object, const char *field, bool needed)
{
    json_t *value = json_object_get(object, field);
    if (json_is_array(value))
        return value;
    if (value || needed)
        reader_fail(reader, field, value ? "must be a list" : "is missing");
    return NULL;
}

struct expression *reader_formula(struct lesson_reader *reader, json_t *value, const char *field,
                                  const struct expression_names *names, const char **text)
{
    char *message = NULL;
    const char *formula = json_string_value(value);
    if (json_is_number(value))
        formula = lk_arena_printf(reader->arena, "%.17g", json_number_value(value));
    if (!formula) {
        reader_fail(reader, field, "must be a number or a formula");
        return NULL;
    }
    struct expression *made = expression_parse(reader->arena, formula, names, &message);
    if (!made)
        reader_fail(reader, field, "%s", message);
    free(message);
    if (text)
        *text = formula;
    return made;
}
