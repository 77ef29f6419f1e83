/*
 * fields.h: kernels that take one structure by value: its fields, as the source declares them.
 */
#ifndef LOCKSTEP_EXPORT_FIELDS_H
#define LOCKSTEP_EXPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#define EXPORT_FIELDS 64

enum export_field_kind {
    EXPORT_FIELD_MAP,     /* tensor_map */
    EXPORT_FIELD_POINTER, /* to void */
    EXPORT_FIELD_LONG,    /* long long */
    EXPORT_FIELD_INT,
    EXPORT_FIELD_FLOAT,
};

struct export_fields {
    char type[64]; /* "gemm_arguments" */
    struct {
        char name[32];
        enum export_field_kind kind;
        size_t offset; /* in bytes */
    } field[EXPORT_FIELDS];
    unsigned count;
    size_t bytes; /* of the structure */
};

/* Of the only argument of a kernel. False if it is not a structure that the source declares, or if
 * it has fields of other kinds. */
bool export_read_fields(const char *source, const char *kernel, struct export_fields *fields);

#endif
