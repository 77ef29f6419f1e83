/*
 * extended.c: calls of level 1 on vectors of any type (cublasAxpyEx and its like). Sums are kept in
 * doubles and rounded once.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

#include <math.h>
#include <stdlib.h>

typedef const struct blas_handle *handle_t;

/* Vectors ---------------------------------------------------------------------------------------
 */

enum what { AXPY, SCAL, COPY, SWAP, ROT, DOT, DOTC, NRM2, ASUM };

struct side {
    const void *data;
    enum blas_type type;
    int64_t step;
};

struct vectors {
    enum what what;
    int64_t n;
    struct side x, y;
    double a[2], b[2]; /* unless they are on the device: */
    const void *device_a, *device_b;
    enum blas_type a_type, result_type;
    void *result;
};

static bool is_complex(enum blas_type type)
{
    return type == TYPE_C32 || type == TYPE_C64;
}

/* Where the first element is: a negative step begins at the end. NULL after an error. */
static char *open_vector(const struct vectors *v, const struct side *side)
{
    size_t size = blas_type_size(side->type);
    int64_t step = side->step < 0 ? -side->step : side->step;
    char *at = lk_library_bytes(side->data, ((size_t)((v->n - 1) * step) + 1) * size);
    return at && side->step < 0 ? at + (size_t)((v->n - 1) * step) * size : at;
}

static void read_element(const struct side *side, const char *at, int64_t i, double value[2])
{
    value[1] = 0;
    blas_widen(side->type, at + i * side->step * (int64_t)blas_type_size(side->type), 0, value);
}

static void write_element(const struct side *side, char *at, int64_t i, const double value[2])
{
    blas_narrow(side->type, at + i * side->step * (int64_t)blas_type_size(side->type), 0, value);
}

static void add_product(double sum[2], const double a[2], const double b[2])
{
    sum[0] += a[0] * b[0] - (a[1] != 0 && b[1] != 0 ? a[1] * b[1] : 0);
    if (a[1] != 0 || b[1] != 0)
        sum[1] += a[0] * b[1] + a[1] * b[0];
}

static void wrote_vector(const struct vectors *v, const struct side *side)
{
    int64_t step = side->step < 0 ? -side->step : side->step;
    lk_library_wrote(side->data, ((size_t)((v->n - 1) * step) + 1) * blas_type_size(side->type));
}

/* One element of each; sum: of the calls that give a number. */
static void step(const struct vectors *v, double x[2], double y[2], double sum[2])
{
    double new_x[2] = {0, 0}, new_y[2] = {y[0], y[1]}, minus_b[2] = {-v->b[0], v->b[1]};
    switch (v->what) {
    case AXPY:
        add_product(new_y, v->a, x);
        break;
    case SCAL:
        add_product(new_x, v->a, x);
        x[0] = new_x[0], x[1] = new_x[1];
        return;
    case COPY:
    case SWAP:
        new_y[0] = x[0], new_y[1] = x[1];
        x[0] = y[0], x[1] = y[1];
        break;
    case ROT: /* y = c y - conjugate(s) x, x = c x + s y */
        add_product(new_x, v->a, x);
        add_product(new_x, v->b, y);
        new_y[0] = new_y[1] = 0;
        add_product(new_y, v->a, y);
        add_product(new_y, minus_b, x);
        x[0] = new_x[0], x[1] = new_x[1];
        break;
    case DOTC:
        x[1] = -x[1];
        add_product(sum, x, y);
        break;
    case DOT:
        add_product(sum, x, y);
        break;
    case NRM2:
        sum[0] = hypot(sum[0], hypot(x[0], x[1]));
        break;
    case ASUM:
        sum[0] += fabs(x[0]) + fabs(x[1]);
        break;
    }
    y[0] = new_y[0], y[1] = new_y[1];
}

static bool read_scalar(const void *at, enum blas_type type, double value[2])
{
    const void *bytes = at ? lk_library_bytes(at, blas_type_size(type)) : NULL;
    if (bytes)
        blas_widen(type, bytes, 0, value);
    return bytes || !at;
}

static void run_vectors(void *data)
{
    struct vectors *v = data;
    double sum[2] = {0, 0};
    char *x = v->n > 0 ? open_vector(v, &v->x) : NULL;
    char *y = v->n > 0 && v->y.data ? open_vector(v, &v->y) : NULL;
    if ((v->n > 0 && (!x || (v->y.data && !y))) || !read_scalar(v->device_a, v->a_type, v->a) ||
        !read_scalar(v->device_b, v->a_type, v->b))
        return;
    bool writes_x = v->what == SCAL || v->what == SWAP || v->what == ROT;
    bool writes_y = v->what == AXPY || v->what == COPY || v->what == SWAP || v->what == ROT;
    for (int64_t i = 0; i < v->n; i++) {
        double a[2], b[2] = {0, 0};
        read_element(&v->x, x, i, a);
        if (y)
            read_element(&v->y, y, i, b);
        step(v, a, b, sum);
        if (writes_x)
            write_element(&v->x, x, i, a);
        if (writes_y)
            write_element(&v->y, y, i, b);
    }
    if (writes_x && v->n > 0)
        wrote_vector(v, &v->x);
    if (writes_y && v->n > 0)
        wrote_vector(v, &v->y);
    void *result = v->result ? lk_library_bytes(v->result, blas_type_size(v->result_type)) : NULL;
    if (result) {
        blas_narrow(v->result_type, result, 0, sum);
        lk_library_wrote(v->result, blas_type_size(v->result_type));
    }
}

static bool knows(const struct side *side)
{
    bool known = blas_type_size(side->type) && side->type != TYPE_I8 && side->type != TYPE_I32 &&
                 side->type != TYPE_E4M3 && side->type != TYPE_E5M2;
    return known || !side->data;
}

static enum blas_status put(handle_t handle, const char *name, struct vectors v, const void *a,
                            const void *b)
{
    bool has_result = v.what >= DOT, two = v.what != SCAL && v.what != NRM2 && v.what != ASUM;
    struct side result = {.data = has_result ? v.result : NULL, .type = v.result_type};
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!knows(&v.x) || !knows(&v.y) || !knows(&result) ||
        (v.y.data && is_complex(v.x.type) != is_complex(v.y.type)))
        return blas_refuse(name, "with these types");
    if ((has_result && !v.result) || (v.n > 0 && (!v.x.data || (two && !v.y.data))) ||
        (!a && (v.what == AXPY || v.what == SCAL || v.what == ROT)))
        return BLAS_INVALID_VALUE;
    if (handle->device_scalars) {
        v.device_a = a;
        v.device_b = b;
    } else {
        if (a)
            blas_widen(v.a_type, a, 0, v.a);
        if (b)
            blas_widen(v.a_type, b, 0, v.b);
    }
    double bytes = (double)blas_type_size(v.x.type) * (two ? 3 : 2);
    struct lk_library_call call = {
        .name = name,
        .function = run_vectors,
        .data = &v,
        .size = sizeof v,
        .operations = 2 * (double)v.n,
        .bytes = bytes * (double)v.n,
        .unit = v.x.type == TYPE_F64 || v.x.type == TYPE_C64 ? LK_UNIT_F64 : LK_UNIT_F32};
    CUresult status = lk_library_call(handle->stream, &call);
    if (status == CUDA_SUCCESS && has_result && !handle->device_scalars)
        status = cuStreamSynchronize(handle->stream);
    return blas_status_of(status);
}

#define DEFINE(symbol, parameters)                                                                 \
    EXPORT enum blas_status symbol parameters;                                                     \
    EXPORT enum blas_status symbol parameters
#define X_SIDE .x = {x, (enum blas_type)x_type, inc_x}
#define Y_SIDE .y = {y, (enum blas_type)y_type, inc_y}

#define TWO(name, suffix, whole, kind)                                                             \
    DEFINE(name##suffix, (handle_t handle, whole n, const void *x, int x_type, whole inc_x,        \
                          const void *y, int y_type, whole inc_y))                                 \
    {                                                                                              \
        return put(handle, #name, (struct vectors){.what = kind, .n = n, X_SIDE, Y_SIDE}, NULL,    \
                   NULL);                                                                          \
    }
#define INNER(name, suffix, whole, kind)                                                           \
    DEFINE(name##suffix,                                                                           \
           (handle_t handle, whole n, const void *x, int x_type, whole inc_x, const void *y,       \
            int y_type, whole inc_y, void *result, int result_type, int compute))                  \
    {                                                                                              \
        (void)compute;                                                                             \
        return put(handle, #name,                                                                  \
                   (struct vectors){.what = kind,                                                  \
                                    .n = n,                                                        \
                                    X_SIDE,                                                        \
                                    Y_SIDE,                                                        \
                                    .result = result,                                              \
                                    .result_type = (enum blas_type)result_type},                   \
                   NULL, NULL);                                                                    \
    }
#define OF_ONE(name, suffix, whole, kind)                                                          \
    DEFINE(name##suffix, (handle_t handle, whole n, const void *x, int x_type, whole inc_x,        \
                          void *result, int result_type, int compute))                             \
    {                                                                                              \
        (void)compute;                                                                             \
        return put(handle, #name,                                                                  \
                   (struct vectors){.what = kind,                                                  \
                                    .n = inc_x > 0 ? n : 0,                                        \
                                    X_SIDE,                                                        \
                                    .result = result,                                              \
                                    .result_type = (enum blas_type)result_type},                   \
                   NULL, NULL);                                                                    \
    }
#define ALL(suffix, whole)                                                                         \
    TWO(cublasCopyEx, suffix, whole, COPY)                                                         \
    TWO(cublasSwapEx, suffix, whole, SWAP)                                                         \
    INNER(cublasDotEx, suffix, whole, DOT)                                                         \
    INNER(cublasDotcEx, suffix, whole, DOTC)                                                       \
    OF_ONE(cublasNrm2Ex, suffix, whole, NRM2)                                                      \
    OF_ONE(cublasAsumEx, suffix, whole, ASUM)                                                      \
    DEFINE(cublasAxpyEx##suffix,                                                                   \
           (handle_t handle, whole n, const void *alpha, int a_type, const void *x, int x_type,    \
            whole inc_x, const void *y, int y_type, whole inc_y, int compute))                     \
    {                                                                                              \
        (void)compute;                                                                             \
        return put(handle, "cublasAxpyEx",                                                         \
                   (struct vectors){                                                               \
                       .what = AXPY, .n = n, X_SIDE, Y_SIDE, .a_type = (enum blas_type)a_type},    \
                   alpha, NULL);                                                                   \
    }                                                                                              \
    DEFINE(cublasScalEx##suffix, (handle_t handle, whole n, const void *alpha, int a_type,         \
                                  const void *x, int x_type, whole inc_x, int compute))            \
    {                                                                                              \
        (void)compute;                                                                             \
        return put(                                                                                \
            handle, "cublasScalEx",                                                                \
            (struct vectors){                                                                      \
                .what = SCAL, .n = inc_x > 0 ? n : 0, X_SIDE, .a_type = (enum blas_type)a_type},   \
            alpha, NULL);                                                                          \
    }                                                                                              \
    DEFINE(cublasRotEx##suffix,                                                                    \
           (handle_t handle, whole n, const void *x, int x_type, whole inc_x, const void *y,       \
            int y_type, whole inc_y, const void *c, const void *s, int a_type, int compute))       \
    {                                                                                              \
        (void)compute;                                                                             \
        if (!s)                                                                                    \
            return BLAS_INVALID_VALUE;                                                             \
        return put(handle, "cublasRotEx",                                                          \
                   (struct vectors){                                                               \
                       .what = ROT, .n = n, X_SIDE, Y_SIDE, .a_type = (enum blas_type)a_type},     \
                   c, s);                                                                          \
    }
ALL(, int)
ALL(_64, int64_t)
