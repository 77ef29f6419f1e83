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

/* With one. */

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

#define AXIS(name, type)                                                                           \
    lk_status lk_##name(void *stream, const type *in, int64_t outer, int64_t middle,               \
                        int64_t inner, type *out, void *workspace, size_t workspace_bytes)         \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(outer, middle, inner), BUFFERS(in, out),          \
                       workspace, workspace_bytes);                                                \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t outer, int64_t middle, int64_t inner, size_t *bytes)   \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(outer, middle, inner), bytes);                      \
    }

#define SEGMENTS(name, type)                                                                       \
    lk_status lk_##name(void *stream, const type *values, const int32_t *offsets, int64_t n,       \
                        int64_t segments, type *out, void *workspace, size_t workspace_bytes)      \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, segments), BUFFERS(values, offsets, out),      \
                       workspace, workspace_bytes);                                                \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t n, int64_t segments, size_t *bytes)                    \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(n, segments), bytes);                               \
    }

#define SCAN(name, type) REDUCE(name, type, type)

#define SELECT(name, type)                                                                         \
    lk_status lk_##name(void *stream, const type *in, int64_t n, type threshold, type *out,        \
                        int64_t *total, void *workspace, size_t workspace_bytes)                   \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, zoo_from_float(threshold)),                    \
                       BUFFERS(in, out, total), workspace, workspace_bytes);                       \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t n, size_t *bytes)                                      \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(n), bytes);                                         \
    }

#define HISTOGRAM(name, type)                                                                      \
    lk_status lk_##name(void *stream, const type *in, int64_t n, int64_t bins, uint32_t *counts,   \
                        void *workspace, size_t workspace_bytes)                                   \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, bins), BUFFERS(in, counts), workspace,         \
                       workspace_bytes);                                                           \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t n, int64_t bins, size_t *bytes)                        \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(n, bins), bytes);                                   \
    }

#define MATMUL(name, type)                                                                         \
    lk_status lk_##name(void *stream, const type *a, const type *b, int64_t m, int64_t n,          \
                        int64_t k, type *c, void *workspace, size_t workspace_bytes)               \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(m, n, k), BUFFERS(a, b, c), workspace,            \
                       workspace_bytes);                                                           \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t m, int64_t n, int64_t k, size_t *bytes)                \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(m, n, k), bytes);                                   \
    }

#define SPMV(name, type)                                                                           \
    lk_status lk_##name(void *stream, const int32_t *offsets, const int32_t *columns,              \
                        const type *values, const type *x, int64_t rows, int64_t cols,             \
                        int64_t nonzeros, type *y, void *workspace, size_t workspace_bytes)        \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(rows, cols, nonzeros),                            \
                       BUFFERS(offsets, columns, values, x, y), workspace, workspace_bytes);       \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t rows, int64_t cols, int64_t nonzeros, size_t *bytes)   \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(rows, cols, nonzeros), bytes);                      \
    }

#define PAIRWISE(name, type)                                                                       \
    lk_status lk_##name(void *stream, const type *x, const type *y, int64_t n, int64_t m,          \
                        int64_t d, type *out, void *workspace, size_t workspace_bytes)             \
    {                                                                                              \
        return api_run(API_##name, stream, SIZES(n, m, d), BUFFERS(x, y, out), workspace,          \
                       workspace_bytes);                                                           \
    }                                                                                              \
    lk_status lk_##name##_workspace(int64_t n, int64_t m, int64_t d, size_t *bytes)                \
    {                                                                                              \
        return api_workspace(API_##name, SIZES(n, m, d), bytes);                                   \
    }

#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) form(name, __VA_ARGS__)
#include "zoo/api.def"

lk_status lk_reduce_explain(const char *what, int64_t n, char *text, size_t size)
{
    char call[64];
    snprintf(call, sizeof call, "reduce_%s", what ? what : "");
    return lk_explain(call, SIZES(n), 1, text, size);
}
