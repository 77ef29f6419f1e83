/*
 * embedded.h: the kernels' sources and PTX as they lie in the library; scripts/embed-kernels makes
 * the list from kernels/.
 */
#ifndef LOCKSTEP_ZOO_EMBEDDED_H
#define LOCKSTEP_ZOO_EMBEDDED_H

#include <stddef.h>

struct zoo_embedded {
    const char *family, *variant;
    const char *text, *text_end, *ptx, *ptx_end; /* each is followed by a zero byte */
};

extern const struct zoo_embedded zoo_embedded[];
extern const size_t zoo_embedded_count;

#endif
