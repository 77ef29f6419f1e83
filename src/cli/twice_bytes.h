/*
 * twice_bytes.h: where two dumps of the same memory differ, and by how much if they are numbers.
 */
#ifndef LOCKSTEP_CLI_TWICE_BYTES_H
#define LOCKSTEP_CLI_TWICE_BYTES_H

#include <stdbool.h>

struct twice_bytes {
    bool known;                      /* both dumps could be read, and differ */
    unsigned long long first, count; /* the first byte that differs; how many do */
    char values[2][40];              /* of the element there */
    bool is_rounding;                /* floating-point sums that differ by little everywhere */
    double largest, relative;
};

/* type: of the kernel's floating-point atomics, "f32" .., or "-": it has none. */
void twice_compare_bytes(const char *one, const char *other, const char *type,
                         struct twice_bytes *result);

#endif
