/*
 * source.h: a variant's source as one text: with its tunables set, our headers in place of their
 * #include lines, and without the functions of headers that it does not use. And what it says about
 * its kernels' arguments.
 */
#ifndef LOCKSTEP_EXPORT_SOURCE_H
#define LOCKSTEP_EXPORT_SOURCE_H

#include "base/buf.h"
#include "zoo/device.h"

/* False and a malloc'd message if a header is not found. */
bool export_source(const struct zoo_family *family, const struct zoo_variant *variant,
                   const struct zoo_tuning *tuning, struct lk_buf *text, char **message);

/* The type of an argument of a kernel that has `count` of them, as the source declares it: "const
 * float *". False where a macro hides it. */
bool export_argument_type(const char *source, const char *kernel, unsigned count, unsigned index,
                          char type[64]);

/* What the source calls it, in the same way. */
bool export_argument_name(const char *source, const char *kernel, unsigned count, unsigned index,
                          char name[64]);

/* "gemm_arguments": the type of a kernel's only argument, if it is one word besides its qualifiers.
 */
bool export_structure_type(const char *source, const char *kernel, char type[64]);

/* Parts -----------------------------------------------------------------------------------------*/

/* The parts that a text is put together from, and what is left of those from headers: functions for
 * the device and macros that no other part names are dropped. */
struct export_parts {
    struct export_part *list;
    size_t count;
};
void export_add_part(struct export_parts *parts, const char *text, size_t size, bool of_header);
/* Adds what is left to text, and frees the parts. */
void export_join_parts(struct export_parts *parts, struct lk_buf *text);

/* Is name a whole word in text? */
bool export_has_word(const char *text, const char *name);

#endif
