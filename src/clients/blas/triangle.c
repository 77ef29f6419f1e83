/*
 * triangle.c: cuBLAS's calls on one triangle of a matrix that BLAS does not have: products of two
 * matrices of which only a triangle is wanted (syrkx, herkx), and triangles packed and unpacked.
 */
#include "clients/blas/blas.h"

#include <stdlib.h>
#include <string.h>

typedef const struct blas_handle *handle_t;

struct triangle {
    enum blas_type type, beta_type; /* alpha has the matrices' type */
    int64_t n, k, lda, ldb, ldc;
    bool upper, transposed, hermitian;
    const void *a, *b;
    void *c;
    double alpha[2], beta[2]; /* unless they are on the device: */
    const void *device_alpha, *device_beta;
};

static bool takes_row(const struct triangle *t, int64_t i, int64_t j)
{
    return t->upper ? i <= j : i >= j;
}

static void *open_columns(const struct triangle *t, const void *at, int64_t rows, int64_t columns,
                          int64_t ld)
{
    if (rows <= 0 || columns <= 0)
        return NULL;
    return lk_library_bytes(at, (size_t)((columns - 1) * ld + rows) * blas_type_size(t->type));
}

static void read_at(const struct triangle *t, const void *at, int64_t index, double value[2])
{
    value[1] = 0;
    blas_widen(t->type, at, (size_t)index, value);
}

static bool read_factor(enum blas_type type, const void *at, double value[2])
{
    const void *bytes = at ? lk_library_bytes(at, blas_type_size(type)) : NULL;
    if (bytes)
        blas_widen(type, bytes, 0, value);
    return bytes || !at;
}

/* One element of op(a) times the other's transpose, conjugated for herkx. */
static void element(const struct triangle *t, const void *a, const void *b, int64_t i, int64_t j,
                    double sum[2])
{
    sum[0] = sum[1] = 0;
    for (int64_t l = 0; l < t->k; l++) {
        double x[2], y[2];
        read_at(t, a, t->transposed ? i * t->lda + l : l * t->lda + i, x);
        read_at(t, b, t->transposed ? j * t->ldb + l : l * t->ldb + j, y);
        if (t->hermitian)
            *(t->transposed ? &x[1] : &y[1]) *= -1;
        sum[0] += x[0] * y[0] - x[1] * y[1];
        sum[1] += x[0] * y[1] + x[1] * y[0];
    }
}

static void run_product(void *data)
{
    struct triangle *t = data;
    int64_t rows = t->transposed ? t->k : t->n, columns = t->transposed ? t->n : t->k;
    const void *a = open_columns(t, t->a, rows, columns, t->lda);
    const void *b = open_columns(t, t->b, rows, columns, t->ldb);
    void *c = open_columns(t, t->c, t->n, t->n, t->ldc);
    if (!c || (t->k > 0 && (!a || !b)) || !read_factor(t->type, t->device_alpha, t->alpha) ||
        !read_factor(t->beta_type, t->device_beta, t->beta))
        return;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->n; i++) {
            double sum[2], old[2] = {0, 0};
            if (!takes_row(t, i, j))
                continue;
            element(t, a, b, i, j, sum);
            if (t->beta[0] != 0 || t->beta[1] != 0) /* else what is there may be no number */
                read_at(t, c, j * t->ldc + i, old);
            double value[2] = {t->alpha[0] * sum[0] - t->alpha[1] * sum[1] + t->beta[0] * old[0] -
                                   t->beta[1] * old[1],
                               t->alpha[0] * sum[1] + t->alpha[1] * sum[0] + t->beta[0] * old[1] +
                                   t->beta[1] * old[0]};
            if (t->hermitian && i == j)
                value[1] = 0;
            blas_narrow(t->type, c, (size_t)(j * t->ldc + i), value);
        }
    lk_library_wrote(t->c, (size_t)((t->n - 1) * t->ldc + t->n) * blas_type_size(t->type));
}

/* From or to a packed triangle: b; its columns follow each other without gaps. */
static void run_pack(void *data)
{
    const struct triangle *t = data;
    size_t size = blas_type_size(t->type), at = 0;
    bool packs = t->k != 0;
    char *full = open_columns(t, t->c, t->n, t->n, t->ldc);
    char *packed = t->n > 0 ? lk_library_bytes(t->b, (size_t)(t->n * (t->n + 1) / 2) * size) : NULL;
    if (!full || !packed)
        return;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->n; i++)
            if (takes_row(t, i, j)) {
                char *place = full + (size_t)(j * t->ldc + i) * size, *other = packed + at++ * size;
                memcpy(packs ? other : place, packs ? place : other, size);
            }
    if (packs)
        lk_library_wrote(t->b, at * size);
    else
        lk_library_wrote(t->c, (size_t)((t->n - 1) * t->ldc + t->n) * size);
}

static enum blas_status put(handle_t handle, const char *name, void (*run)(void *),
                            struct triangle t, const void *alpha, const void *beta)
{
    bool product = run == run_product;
    int64_t rows = t.transposed ? t.k : t.n;
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (t.n < 0 || t.k < 0 || t.ldc < (t.n > 1 ? t.n : 1) ||
        (product &&
         (!alpha || !beta || t.lda < (rows > 1 ? rows : 1) || t.ldb < (rows > 1 ? rows : 1))))
        return BLAS_INVALID_VALUE;
    if (t.n == 0)
        return BLAS_SUCCESS;
    if (handle->device_scalars) {
        t.device_alpha = alpha;
        t.device_beta = beta;
    } else if (product) {
        t.alpha[1] = t.beta[1] = 0;
        blas_widen(t.type, alpha, 0, t.alpha);
        blas_widen(t.beta_type, beta, 0, t.beta);
    }
    double elements = (double)t.n * (double)t.n / 2;
    struct lk_library_call call = {.name = name,
                                   .function = run,
                                   .data = &t,
                                   .size = sizeof t,
                                   .operations = 2 * elements * (double)t.k,
                                   .bytes = elements * 3 * (double)blas_type_size(t.type),
                                   .unit = t.type == TYPE_F64 || t.type == TYPE_C64 ? LK_UNIT_F64
                                                                                    : LK_UNIT_F32};
    return blas_status_of(lk_library_call(handle->stream, &call));
}

#define DEFINE(symbol, parameters)                                                                 \
    EXPORT enum blas_status symbol parameters;                                                     \
    EXPORT enum blas_status symbol parameters

/* operation: hermitian ones have no plain transpose. */
#define PRODUCT(X, name, suffix, whole, T, BETA, conjugates)                                       \
    DEFINE(cublas##X##name##suffix, (handle_t handle, int fill, int operation, whole n, whole k,   \
                                     const void *alpha, const void *a, whole lda, const void *b,   \
                                     whole ldb, const void *beta, void *c, whole ldc))             \
    {                                                                                              \
        if ((unsigned)fill > 1 || (unsigned)operation > 2 || ((conjugates) && operation == 1))     \
            return BLAS_INVALID_VALUE;                                                             \
        return put(handle, "cublas" #X #name, run_product,                                         \
                   (struct triangle){.type = T,                                                    \
                                     .beta_type = BETA,                                            \
                                     .n = n,                                                       \
                                     .k = k,                                                       \
                                     .lda = lda,                                                   \
                                     .ldb = ldb,                                                   \
                                     .ldc = ldc,                                                   \
                                     .upper = fill == 1,                                           \
                                     .transposed = operation != 0,                                 \
                                     .hermitian = conjugates,                                      \
                                     .a = a,                                                       \
                                     .b = b,                                                       \
                                     .c = c},                                                      \
                   alpha, beta);                                                                   \
    }
#define BOTH(X, name, T, BETA, conjugates)                                                         \
    PRODUCT(X, name, , int, T, BETA, conjugates)                                                   \
    PRODUCT(X, name, _64, int64_t, T, BETA, conjugates)
BOTH(S, syrkx, TYPE_F32, TYPE_F32, false)
BOTH(D, syrkx, TYPE_F64, TYPE_F64, false)
BOTH(C, syrkx, TYPE_C32, TYPE_C32, false)
BOTH(Z, syrkx, TYPE_C64, TYPE_C64, false)
BOTH(C, herkx, TYPE_C32, TYPE_F32, true)
BOTH(Z, herkx, TYPE_C64, TYPE_F64, true)

#define PACKED(X, T)                                                                               \
    DEFINE(cublas##X##tpttr,                                                                       \
           (handle_t handle, int fill, int n, const void *packed, void *a, int lda))               \
    {                                                                                              \
        if ((unsigned)fill > 1)                                                                    \
            return BLAS_INVALID_VALUE;                                                             \
        return put(handle, "cublas" #X "tpttr", run_pack,                                          \
                   (struct triangle){                                                              \
                       .type = T, .n = n, .ldc = lda, .upper = fill == 1, .b = packed, .c = a},    \
                   NULL, NULL);                                                                    \
    }                                                                                              \
    DEFINE(cublas##X##trttp,                                                                       \
           (handle_t handle, int fill, int n, const void *a, int lda, void *packed))               \
    {                                                                                              \
        if ((unsigned)fill > 1)                                                                    \
            return BLAS_INVALID_VALUE;                                                             \
        return put(handle, "cublas" #X "trttp", run_pack,                                          \
                   (struct triangle){.type = T,                                                    \
                                     .n = n,                                                       \
                                     .k = 1,                                                       \
                                     .ldc = lda,                                                   \
                                     .upper = fill == 1,                                           \
                                     .b = packed,                                                  \
                                     .c = (void *)a},                                              \
                   NULL, NULL);                                                                    \
    }
PACKED(S, TYPE_F32)
PACKED(D, TYPE_F64)
PACKED(C, TYPE_C32)
PACKED(Z, TYPE_C64)
