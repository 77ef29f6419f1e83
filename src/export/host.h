/*
 * host.h: the parts of an exported program's main that depend on the variant: memory, what is asked
 * of the GPU, and the launches.
 */
#ifndef LOCKSTEP_EXPORT_HOST_H
#define LOCKSTEP_EXPORT_HOST_H

#include "export/formulas.h"
#include "export/pieces.h"

struct export_host {
    const struct export_request *request;
    const struct export_formulas *formulas;
    const struct export_pieces *pieces;
    const char *source; /* of the kernels */
    struct zoo_buffer buffer[ZOO_BUFFERS];
    unsigned buffer_count;
};

void export_buffers(const struct export_host *host, struct lk_buf *text); /* allocated and filled */
void export_settings(const struct export_host *host, struct lk_buf *text); /* asked and computed */
void export_launches(const struct export_host *host, struct lk_buf *text);
bool export_has_maps(const struct export_host *host);
void export_maps(const struct export_host *host, struct lk_buf *text); /* made */
void export_map_name(const struct export_host *host, unsigned step, char name[80]);
/* Structures of arguments, filled. */
void export_structures(const struct export_host *host, struct lk_buf *text);
/* "scan_launch" for what = "launch"; a second launch of the same kernel gets a number. */
void export_step_name(const struct export_host *host, unsigned step, const char *what,
                      char name[96]);
void export_results(const struct export_host *host, struct lk_buf *text); /* fetched and checked */
void export_release(const struct export_host *host, struct lk_buf *text);

/* Statements, broken after a comma or a plus sign where they are too long. */
void export_statement(struct lk_buf *text, int indent, const struct lk_buf *statement);
void export_printf(struct lk_buf *text, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A number of the launches as it is written: an expression, or the name of one. */
void export_slot(const struct export_host *host, unsigned slot, struct lk_buf *text);
char *export_slot_text(const struct export_host *host, unsigned slot); /* malloc'd */
/* A float that a kernel calls `name`: the problem's constant of that name and value, else the only
 * one of that value (but not of 0 or 1), else the number. Where a macro hides the name (""), the
 * first one of that value. */
void export_float(const struct export_host *host, double value, const char *name,
                  struct lk_buf *text);

/* Do the launches need as_pointer, because a macro hides the types of a kernel's arguments? */
bool export_hides_types(const struct export_host *host);

#endif
