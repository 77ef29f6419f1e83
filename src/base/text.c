/*
 * text.c: whole numbers, near misses and HTML; see text.h.
 */
#include "base/text.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LETTERS = 64 };

bool lk_parse_number(const char *text, unsigned long long most, unsigned long long *number)
{
    char *end = NULL;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return end && !*end && !errno && *number <= most;
}

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* row[j] is the distance between the first i letters of from and the first j of to. */
unsigned lk_edit_distance(const char *from, size_t from_size, const char *to, size_t to_size)
{
    unsigned row[MOST_LETTERS + 1];
    if (from_size > MOST_LETTERS || to_size > MOST_LETTERS)
        return (unsigned)(from_size > to_size ? from_size : to_size);
    for (unsigned j = 0; j <= to_size; j++)
        row[j] = j;
    for (unsigned i = 1; i <= from_size; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= to_size; j++) {
            unsigned above = row[j];
            row[j] = least_of(above + 1, row[j - 1] + 1, diagonal + (from[i - 1] != to[j - 1]));
            diagonal = above;
        }
    }
    return row[to_size];
}

void lk_guess_try(struct lk_guess *guess, const char *name)
{
    size_t size = guess->size ? guess->size : strlen(guess->wanted);
    unsigned distance = lk_edit_distance(guess->wanted, size, name, strlen(name));
    if (guess->parts && memmem(name, strlen(name), guess->wanted, size) && size > 0)
        distance = distance < 1 ? distance : 1;
    if (distance < guess->distance) {
        guess->distance = distance;
        guess->nearest = name;
    }
}

void lk_buf_html(struct lk_buf *buf, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while (text && *text) {
        unsigned length = lk_utf8_length(text);
        const char *found = strchr(special, *text);
        bool control = ((unsigned char)*text < 0x20 && !strchr("\t\n\r", *text)) || *text == 0x7f;
        if (found)
            lk_buf_printf(buf, "%s", entity[found - special]);
        else if (!length)
            lk_buf_printf(buf, "\xef\xbf\xbd");
        else if (!control)
            lk_buf_add(buf, text, length);
        text += length ? length : 1;
    }
}
