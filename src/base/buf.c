/*
 * buf.c: a growing buffer; see buf.h.
 */
#include "base/buf.h"

#include "base/arena.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void buf_reserve(struct lk_buf *buf, size_t more)
{
    if (buf->size + more + 1 <= buf->capacity)
        return;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 128;
    while (capacity < buf->size + more + 1)
        capacity *= 2;
    buf->data = lk_realloc(buf->data, capacity);
    buf->capacity = capacity;
}

void lk_buf_add(struct lk_buf *buf, const void *data, size_t size)
{
    buf_reserve(buf, size);
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = 0;
}

void lk_buf_vprintf(struct lk_buf *buf, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    buf_reserve(buf, (size_t)length);
    vsnprintf(buf->data + buf->size, (size_t)length + 1, format, arguments);
    buf->size += (size_t)length;
}

void lk_buf_printf(struct lk_buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(buf, format, arguments);
    va_end(arguments);
}

char *lk_format(const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    return text.data;
}

/* Readers take nothing but UTF-8, so each other byte becomes the replacement character. */
void lk_buf_json(struct lk_buf *buf, const char *text)
{
    lk_buf_add(buf, "\"", 1);
    while (*text) {
        unsigned length = lk_utf8_length(text);
        if (*text == '"' || *text == '\\')
            lk_buf_printf(buf, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            lk_buf_printf(buf, "\\u%04x", (unsigned)*text);
        else if (length)
            lk_buf_add(buf, text, length);
        else
            lk_buf_printf(buf, "\\ufffd");
        text += length ? length : 1;
    }
    lk_buf_add(buf, "\"", 1);
}

void lk_buf_free(struct lk_buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}

void lk_buf_place(struct lk_buf *buf, const char *name, const char *text, size_t text_size,
                  size_t offset, const char *message)
{
    if (offset > text_size)
        offset = text_size;
    size_t line = 1, start = 0;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    size_t end = offset;
    while (end < text_size && text[end] != '\n' && text[end] != 0)
        end++;
    /* A line may be megabytes long (hostile or machine-made input): show a window of it. */
    enum { WINDOW = 120 };
    size_t from = offset - start > WINDOW / 2 ? offset - WINDOW / 2 : start;
    size_t shown = end - from > WINDOW ? WINDOW : end - from;
    lk_buf_printf(buf, "%s:%zu:%zu: %s\n  ", name, line, offset - start + 1, message);
    for (size_t i = from; i < from + shown; i++)
        lk_buf_printf(buf, "%c", text[i] >= 32 && text[i] != 127 ? text[i] : ' ');
    lk_buf_printf(buf, "\n  %*s^\n", (int)(offset - from), "");
}
