/*
 * terminal.h: messages on stderr, and colours where a person is looking.
 */
#ifndef LOCKSTEP_HOST_TERMINAL_H
#define LOCKSTEP_HOST_TERMINAL_H

#include <stdio.h>

/* "lockstep COMMAND: message" on stderr; the command is what host_set_command was given. */
void host_set_command(const char *name);
void host_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Escape sequences, or "" where stream is not a terminal or NO_COLOR is set. */
enum host_style { HOST_PLAIN, HOST_BOLD, HOST_DIM, HOST_GREEN, HOST_RED, HOST_YELLOW };
const char *host_style(FILE *stream, enum host_style style);

#endif
