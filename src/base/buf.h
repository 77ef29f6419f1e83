/*
 * buf.h: a growing byte buffer, mostly for text.
 */
#ifndef LOCKSTEP_BASE_BUF_H
#define LOCKSTEP_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct lk_buf {
    char *data; /* always NUL-terminated once something was added */
    size_t size, capacity;
};

void lk_buf_add(struct lk_buf *buf, const void *data, size_t size);
void lk_buf_printf(struct lk_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lk_buf_vprintf(struct lk_buf *buf, const char *format, va_list arguments);
/* Formatted text, malloc'd; for messages. */
char *lk_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As a JSON string, with quotes. Bytes that are not UTF-8 become U+FFFD. */
void lk_buf_json(struct lk_buf *buf, const char *text);
void lk_buf_free(struct lk_buf *buf);

/* Appends "name:line:column: message", the line of text and a caret under the column. */
void lk_buf_place(struct lk_buf *buf, const char *name, const char *text, size_t text_size,
                  size_t offset, const char *message);

#endif
