/*
 * text.h: small questions about text that several rooms ask.
 */
#ifndef LOCKSTEP_BASE_TEXT_H
#define LOCKSTEP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A whole number up to most that is all of text; false if it is not. */
bool lk_parse_number(const char *text, unsigned long long most, unsigned long long *number);

#endif
