/*
 * client_terms.h: advice and findings in the words of the client whose kernel it is.
 */
#ifndef LOCKSTEP_REPORT_CLIENT_TERMS_H
#define LOCKSTEP_REPORT_CLIENT_TERMS_H

#include "base/buf.h"
#include "report/check.h"

enum terms_client { TERMS_CUDA, TERMS_NUMBA, TERMS_TRITON };

bool terms_is_python(const char *file);
/* What a line of a .py file tells of the kernel that goes on below it: above 0, that it is CUDA C
 * in a string, as CuPy's and PyCUDA's are; below 0, that it is Python; 0, nothing. */
int terms_line_tells(const char *line);
/* Is this line of the file, which is read, one of a kernel in Python? */
bool terms_is_python_line(const char *file, unsigned line);
/* Whose kernel is it? is_python: by its source; symbol: its name in PTX, or NULL. */
enum terms_client terms_client(bool is_python, const char *symbol);
/* The text with CUDA C's words replaced: itself, or in `changed`. */
const char *terms_of(enum terms_client client, const char *text, struct lk_buf *changed);
/* What to change in the client's code, or NULL. one_block, one_warp: both sides of a race are in
 * the same. */
const char *terms_remedy(enum terms_client client, enum finding_kind kind, bool one_block,
                         bool one_warp);

#endif
