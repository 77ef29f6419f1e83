/*
 * terminal.h: messages on stderr, and colours where a person is looking.
 */
#ifndef LOCKSTEP_HOST_TERMINAL_H
#define LOCKSTEP_HOST_TERMINAL_H

#include <stdio.h>

/* "lockstep COMMAND: message" on stderr; the command is what host_set_command was given. */
void host_set_command(const char *name);
void host_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How this program was started, as the user typed it (argv[0]): messages that say "lockstep learn"
 * then say "build/lockstep learn" if that is what works here. */
void host_set_started(const char *typed);
/* As printf to stdout and as fputs, with that name. */
void host_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void host_put(FILE *stream, const char *text);

/* Escape sequences, or "" where stream is not a terminal or NO_COLOR is set. */
enum host_style { HOST_PLAIN, HOST_BOLD, HOST_DIM, HOST_GREEN, HOST_RED, HOST_YELLOW };
const char *host_style(FILE *stream, enum host_style style);

#endif
