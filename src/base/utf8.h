/*
 * utf8.h: recognises valid UTF-8.
 */
#ifndef LOCKSTEP_BASE_UTF8_H
#define LOCKSTEP_BASE_UTF8_H

/* How many bytes the character at the start of text has, 1 to 4; 0 if the bytes there are not valid
 * UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). The NUL at the end of
 * text is a character of one byte. */
unsigned lk_utf8_length(const char *text);

/* Puts '?' in the place of each byte that is not UTF-8; text may be NULL. */
void lk_replace_bad_utf8(char *text);

#endif
