/*
 * shape.h: the shape of a warpgroup's product, which is part of the mnemonic (.m64n128k16) but has
 * too many values to be a modifier each.
 */
#ifndef LOCKSTEP_PTX_SHAPE_H
#define LOCKSTEP_PTX_SHAPE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* N and K of .m64nNkK in an instruction's text; false if it has none. */
static inline bool ptx_wide_shape(const char *text, unsigned *n, unsigned *k)
{
    const char *at = text ? strstr(text, ".m64n") : NULL;
    char *end = NULL;
    if (!at)
        return false;
    *n = (unsigned)strtoul(at + 5, &end, 10);
    if (*end != 'k')
        return false;
    at = end + 1;
    *k = (unsigned)strtoul(at, &end, 10);
    return end > at;
}

#endif
