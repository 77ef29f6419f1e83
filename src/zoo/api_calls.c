/*
 * api_calls.c: the public calls themselves, made from the rows of api.def: one macro for each form.
 * lockstep.h declares them; the compiler compares.
 */
#include "zoo/api.h"

#include <stdio.h>

#pragma GCC diagnostic error "-Wmissing-prototypes"

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})
#define BUFFERS(...) ((const void *const[]){__VA_ARGS__})

#define REDUCE(name, in_type, out_type)                                                            \
    lk_status lk_##name(void *stream, const in_type *in, int64_t n, out_type *out,                 \
                        void *workspace, size_t workspace_bytes)                                   \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n), BUFFERS(in, out), workspace,                  \
                       workspace_bytes);                                                           \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t n, size_t *bytes)                                      \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(n), bytes);                                         \
    }

#define FORM(form, sizes, buffers, traits)
#define CALL(form, name, family, problem, ...) form(name, __VA_ARGS__)
#include "zoo/api.def"

lk_status lk_reduce_explain(const char *what, int64_t n, char *text, size_t size)
{
    char call[64];
    snprintf(call, sizeof call, "reduce_%s", what ? what : "");
    return lk_explain(call, SIZES(n), 1, text, size);
}
