/*
 * words.h: advice and findings in the words of the client whose kernel it is.
 */
#ifndef LOCKSTEP_REPORT_WORDS_H
#define LOCKSTEP_REPORT_WORDS_H

#include "base/buf.h"
#include "report/check.h"

enum words_client { WORDS_CUDA, WORDS_NUMBA, WORDS_TRITON };

bool words_is_python(const char *file);
/* Whose kernel is it? is_python: by its source; symbol: its name in PTX, or NULL. */
enum words_client words_client(bool is_python, const char *symbol);
/* The text with CUDA C's words replaced: itself, or in `changed`. */
const char *words_of(enum words_client client, const char *text, struct lk_buf *changed);
/* What to change in the client's code, or NULL. one_block, one_warp: both sides of a race are in
 * the same. */
const char *words_remedy(enum words_client client, enum finding_kind kind, bool one_block,
                         bool one_warp);

#endif
