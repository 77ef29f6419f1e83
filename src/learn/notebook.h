/*
 * notebook.h: a lesson as a Jupyter notebook (nbformat 4.5): its text, a cell for each exercise, a
 * cell for each question. The cells use the magic of python/lockstep; docs/notebooks.md.
 */
#ifndef LOCKSTEP_LEARN_NOTEBOOK_H
#define LOCKSTEP_LEARN_NOTEBOOK_H

#include "base/buf.h"
#include "learn/lesson.h"

/* With solutions the exercises' cells hold ours, and the questions are answered. NULL and a
 * malloc'd message. The notebook carries a mark by which learn_notebook_is_ours recognises it. */
json_t *learn_notebook(const struct learn_lesson *lesson, bool solutions, char **message);
/* 00_ready_check: looks at this computer and asks the questions of 'learn ready'. */
struct learn_ready;
json_t *learn_notebook_ready(const struct learn_ready *ready, bool solutions);

/* Is it as learn_notebook made it, or was it changed or run since? */
bool learn_notebook_is_ours(json_t *notebook);

enum learn_notebook_end {
    LEARN_NOTEBOOK_WRITTEN,
    LEARN_NOTEBOOK_SAME, /* it was there already */
    LEARN_NOTEBOOK_KEPT, /* the file was changed or run */
    LEARN_NOTEBOOK_FAILED
};
/* Writes it into path. force: a changed notebook is set aside, and *aside says where (malloc'd).
 * Failed: with a malloc'd message. */
enum learn_notebook_end learn_notebook_write(const json_t *notebook, const char *path, bool force,
                                             char **aside, char **message);

/* Links as a notebook can follow them; text is a lesson's Markdown. Malloc'd. pictures gets a line
 * "NAME SETTING=VALUE .." for each interactive, in their order. */
char *learn_notebook_links(const struct learn_lesson *lesson, const char *text, size_t size,
                           struct lk_buf *pictures);

#endif
