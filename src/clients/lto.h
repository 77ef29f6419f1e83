/*
 * lto.h: link-time optimisation, by NVIDIA's own linker: LTO-IR in, PTX out.
 */
#ifndef LOCKSTEP_CLIENTS_LTO_H
#define LOCKSTEP_CLIENTS_LTO_H

#include "base/buf.h"

#include <stdbool.h>

struct lto_input {
    void *data;
    size_t size;
    char *name;
};

/* options: what nvJitLinkCreate got. On failure false, and errors says why. */
bool lto_to_ptx(const struct lto_input *inputs, size_t count, const char *const *options,
                unsigned option_count, struct lk_buf *ptx, struct lk_buf *errors);

#endif
