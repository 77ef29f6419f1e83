/*
 * text.h: small text functions that several rooms share: whole numbers, near misses, HTML.
 */
#ifndef LOCKSTEP_BASE_TEXT_H
#define LOCKSTEP_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* A whole number up to most that is all of text; false if it is not. */
bool lk_parse_number(const char *text, unsigned long long most, unsigned long long *number);

/* How many letters must be inserted, removed or changed to turn one word into the other. For words
 * of more than 64 letters, simply the length of the longer one. */
unsigned lk_edit_distance(const char *from, size_t from_size, const char *to, size_t to_size);

/* The nearest of several names to the one that was typed, for "did you mean". */
struct lk_guess {
    const char *wanted;
    size_t size;         /* of wanted; 0: up to its NUL */
    unsigned distance;   /* set it to the first distance that is too far */
    bool parts;          /* a part of a name is one edit away from it */
    const char *nearest; /* NULL: none is near */
};
void lk_guess_try(struct lk_guess *guess, const char *name);

/* Appends text with what HTML, XML and SVG take for markup escaped. Control characters are dropped
 * and bytes that are not UTF-8 become U+FFFD, as neither may be in a page; text may be NULL. */
void lk_buf_html(struct lk_buf *buf, const char *text);

#endif
