/*
 * headers.h: tells a program's own source files from those of the CUDA toolkit, the system and the
 * compiler. Findings and profiles name the program's own lines.
 */
#ifndef LOCKSTEP_HOST_HEADERS_H
#define LOCKSTEP_HOST_HEADERS_H

#include <stdbool.h>

/* The path is as the compiler wrote it into line information. A toolkit is recognised by what its
 * include folder holds, so it may lie anywhere. */
bool host_is_toolkit_header(const char *path);
/* Of the system or of the host compiler; also "??", which is a debugger's name for none. */
bool host_is_system_header(const char *path);

#endif
