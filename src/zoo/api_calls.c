/*
 * api_calls.c: the public calls themselves, made from the rows of api.def: one macro for each form.
 * lockstep.h declares them; the compiler compares.
 */
#include "zoo/api.h"

#include <stdio.h>

#pragma GCC diagnostic error "-Wmissing-prototypes"

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})
#define BUFFERS(...) ((const void *const[]){__VA_ARGS__})

/* Without a workspace: these need none, and never will. */

#define BINARY(name, type)                                                                         \
    lk_status lk_##name(void *stream, const type *x, const type *y, int64_t n, type *out)          \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n), BUFFERS(x, y, out), NULL, 0);                 \
    }

#define UNARY(name, type)                                                                          \
    lk_status lk_##name(void *stream, const type *x, int64_t n, type *out)                         \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n), BUFFERS(x, out), NULL, 0);                    \
    }

#define SCALE(name, type)                                                                          \
    lk_status lk_##name(void *stream, const type *x, type scalar, int64_t n, type *out)            \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, zoo_from_float(scalar)), BUFFERS(x, out),      \
                       NULL, 0);                                                                   \
    }

#define AXPY(name, type)                                                                           \
    lk_status lk_##name(void *stream, type scalar, const type *x, int64_t n, type *y)              \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, zoo_from_float(scalar)), BUFFERS(x, y), NULL,  \
                       0);                                                                         \
    }

#define TRANSPOSE(name, type)                                                                      \
    lk_status lk_##name(void *stream, const type *in, int64_t rows, int64_t cols, type *out)       \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(rows, cols), BUFFERS(in, out), NULL, 0);          \
    }

#define TRANSPOSE_IN_PLACE(name, type)                                                             \
    lk_status lk_##name(void *stream, type *a, int64_t rows, int64_t cols)                         \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(rows, cols), BUFFERS(a), NULL, 0);                \
    }

/* With one: the call takes `arguments`, between the stream and the workspace, and lk_NAME_workspace
 * only those that are `sizes`. */
#define INSIDE(...) __VA_ARGS__
#define WITH_WORKSPACE(name, arguments, run_sizes, buffers, size_arguments, sizes)                 \
    lk_status lk_##name(void *stream, INSIDE arguments, void *workspace, size_t workspace_bytes)   \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES run_sizes, BUFFERS buffers, workspace,            \
                       workspace_bytes);                                                           \
    }                                                                                              \
    lk_status lk_##name##_workspace(INSIDE size_arguments, size_t *bytes)                          \
    {                                                                                              \
        return api_workspace(API_##name, SIZES sizes, bytes);                                      \
    }

/* clang-format off */
#define REDUCE(name, in_type, out_type)                                                            \
    WITH_WORKSPACE(name, (const in_type *in, int64_t n, out_type *out),                            \
                   (n), (in, out),                                                                 \
                   (int64_t n), (n))

#define AXIS(name, type)                                                                           \
    WITH_WORKSPACE(name, (const type *in, int64_t outer, int64_t middle, int64_t inner, type *out),\
                   (outer, middle, inner), (in, out),                                              \
                   (int64_t outer, int64_t middle, int64_t inner), (outer, middle, inner))

#define SEGMENTS(name, type)                                                                       \
    WITH_WORKSPACE(name, (const type *values, const int32_t *offsets, int64_t n, int64_t segments, \
                          type *out),                                                              \
                   (n, segments), (values, offsets, out),                                          \
                   (int64_t n, int64_t segments), (n, segments))

#define SCAN(name, type) REDUCE(name, type, type)

#define SELECT(name, type)                                                                         \
    WITH_WORKSPACE(name, (const type *in, int64_t n, type threshold, type *out, int64_t *total),   \
                   (n, zoo_from_float(threshold)), (in, out, total),                               \
                   (int64_t n), (n))

#define HISTOGRAM(name, type)                                                                      \
    WITH_WORKSPACE(name, (const type *in, int64_t n, int64_t bins, uint32_t *counts),              \
                   (n, bins), (in, counts),                                                        \
                   (int64_t n, int64_t bins), (n, bins))

#define MATMUL(name, type)                                                                         \
    WITH_WORKSPACE(name, (const type *a, const type *b, int64_t m, int64_t n, int64_t k, type *c), \
                   (m, n, k), (a, b, c),                                                           \
                   (int64_t m, int64_t n, int64_t k), (m, n, k))

#define SPMV(name, type)                                                                           \
    WITH_WORKSPACE(name, (const int32_t *offsets, const int32_t *columns, const type *values,      \
                          const type *x, int64_t rows, int64_t cols, int64_t nonzeros, type *y),   \
                   (rows, cols, nonzeros), (offsets, columns, values, x, y),                       \
                   (int64_t rows, int64_t cols, int64_t nonzeros), (rows, cols, nonzeros))

#define PAIRWISE(name, type)                                                                       \
    WITH_WORKSPACE(name, (const type *x, const type *y, int64_t n, int64_t m, int64_t d,           \
                          type *out),                                                              \
                   (n, m, d), (x, y, out),                                                         \
                   (int64_t n, int64_t m, int64_t d), (n, m, d))
/* clang-format on */

#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) form(name, __VA_ARGS__)
#include "zoo/api.def"

lk_status lk_reduce_explain(const char *what, int64_t n, char *text, size_t size)
{
    char call[64];
    snprintf(call, sizeof call, "reduce_%s", what ? what : "");
    return lk_explain(call, SIZES(n), 1, text, size);
}
