/*
 * more.c: what cuBLAS has and BLAS has not, or has in another form: trmm into a matrix of its own,
 * sums and scalings of matrices, batched solvers.
 */
#include "clients/blas/blas.h"

#include <stdlib.h>
#include <string.h>

typedef const struct blas_handle *handle_t;

static const char letters[] = "sdcz";
static const enum blas_type types[] = {TYPE_F32, TYPE_F64, TYPE_C32, TYPE_C64};

/* One struct for all of them; each reads what it needs. */
struct more {
    int letter; /* into letters */
    int side, fill, ta, tb, diagonal, m, n, lda, ldb, ldc, count;
    double alpha[2], beta[2];
    const void *device_alpha, *device_beta;
    const void *a, *b;
    void *c;
    int *pivots, *infos;
};

static enum blas_status put(handle_t handle, const char *name, void (*run)(void *),
                            struct more more, const void *alpha, const void *beta, double work)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (more.m < 0 || more.n < 0 || more.count < 0)
        return BLAS_INVALID_VALUE;
    if (handle->device_scalars) {
        more.device_alpha = alpha;
        more.device_beta = beta;
    } else {
        if (alpha)
            blas_widen(types[more.letter], alpha, 0, more.alpha);
        if (beta)
            blas_widen(types[more.letter], beta, 0, more.beta);
    }
    double elements = (double)more.m * more.n * (more.count ? more.count : 1);
    struct lk_library_call call = {.name = name,
                                   .function = run,
                                   .data = &more,
                                   .size = sizeof more,
                                   .operations = 2 * elements * work,
                                   .bytes =
                                       3 * elements * (double)blas_type_size(types[more.letter]),
                                   .unit = more.letter % 2 ? LK_UNIT_F64 : LK_UNIT_F32};
    return blas_status_of(lk_library_call(handle->stream, &call));
}

static void read_scalars(struct more *more)
{
    enum blas_type type = types[more->letter];
    const void *alpha = more->device_alpha, *beta = more->device_beta;
    if (alpha && (alpha = lk_library_bytes(alpha, blas_type_size(type))))
        blas_widen(type, alpha, 0, more->alpha);
    if (beta && (beta = lk_library_bytes(beta, blas_type_size(type))))
        blas_widen(type, beta, 0, more->beta);
}

static void *function_of(const struct more *more, const char *name)
{
    char full[16] = {letters[more->letter]};
    strncat(full, name, sizeof full - 2);
    return blas_function(full);
}

static size_t matrix_bytes(const struct more *more, int rows, int columns, int ld)
{
    return rows && columns ? ((size_t)(columns - 1) * (size_t)ld + (size_t)rows) *
                                 blas_type_size(types[more->letter])
                           : 0;
}

/* Where the host finds an m by n matrix, or one that is transposed. */
static void *open_matrix(const struct more *more, const void *matrix, int ld, int transpose)
{
    return lk_library_bytes(matrix, matrix_bytes(more, transpose ? more->n : more->m,
                                                 transpose ? more->m : more->n, ld));
}

/* One of a batch, given by an array of pointers. */
static void *batch_at(const void *list, int at)
{
    void *const *entry = lk_library_bytes((void *const *)list + at, sizeof *entry);
    return entry ? *entry : NULL;
}

static void wrote_matrix(const struct more *more, const void *matrix, int ld)
{
    lk_library_wrote(matrix, matrix_bytes(more, more->m, more->n, ld));
}

/* Triangular products and solutions
 * --------------------------------------------------------------*/

typedef void triangular(const char *, const char *, const char *, const char *, const int *,
                        const int *, const void *, const void *, const int *, void *, const int *);

static void call_triangular(const struct more *more, const char *name, const void *a, void *b,
                            int ldb)
{
    triangular *function = (triangular *)function_of(more, name);
    int order = more->side ? more->n : more->m;
    const void *open_a = lk_library_bytes(a, matrix_bytes(more, order, order, more->lda));
    void *open_b = open_matrix(more, b, ldb, 0);
    double alpha[2];
    blas_narrow(types[more->letter], alpha, 0, more->alpha);
    if (function && open_a && open_b && more->m && more->n)
        function(&"LR"[more->side], &"LU"[more->fill], &"NTC"[more->ta], &"NU"[more->diagonal],
                 &more -> m, &more -> n, alpha, open_a, &more -> lda, open_b, &ldb);
    wrote_matrix(more, b, ldb);
}

static void run_trmm(void *data)
{
    struct more *more = data;
    size_t size = blas_type_size(types[more->letter]);
    read_scalars(more);
    const char *b = open_matrix(more, more->b, more->ldb, 0);
    char *c = open_matrix(more, more->c, more->ldc, 0);
    if (!b || !c)
        return;
    for (int column = 0; c != b && column < more->n; column++)
        memcpy(c + (size_t)column * (size_t)more->ldc * size,
               b + (size_t)column * (size_t)more->ldb * size, (size_t)more->m * size);
    call_triangular(more, "trmm_", more->a, more->c, more->ldc);
}

static void run_trsm_batched(void *data)
{
    struct more *more = data;
    read_scalars(more);
    for (int at = 0; at < more->count; at++)
        call_triangular(more, "trsm_", batch_at(more->a, at), batch_at(more->b, at), more->ldb);
}

/* Sums and scalings
 * ------------------------------------------------------------------------------*/

static void times(const double x[2], const double y[2], double out[2])
{
    double real = x[0] * y[0] - x[1] * y[1];
    out[1] = x[0] * y[1] + x[1] * y[0];
    out[0] = real;
}

static void element(const struct more *more, const void *matrix, int ld, int transpose, int row,
                    int column, double out[2])
{
    size_t at = transpose ? (size_t)row * (size_t)ld + (size_t)column
                          : (size_t)column * (size_t)ld + (size_t)row;
    out[1] = 0;
    blas_widen(types[more->letter], matrix, at, out);
    if (transpose == 2)
        out[1] = -out[1];
}

/* c = alpha op(a) + beta op(b); c may be a or b where those are not transposed. */
static void run_geam(void *data)
{
    struct more *more = data;
    read_scalars(more);
    bool has_a = more->alpha[0] != 0 || more->alpha[1] != 0;
    bool has_b = more->beta[0] != 0 || more->beta[1] != 0;
    const void *a = has_a ? open_matrix(more, more->a, more->lda, more->ta) : NULL;
    const void *b = has_b ? open_matrix(more, more->b, more->ldb, more->tb) : NULL;
    void *c = open_matrix(more, more->c, more->ldc, 0);
    if ((has_a && !a) || (has_b && !b) || !c)
        return;
    for (int column = 0; column < more->n; column++)
        for (int row = 0; row < more->m; row++) {
            double x[2] = {0}, y[2] = {0};
            if (has_a) {
                element(more, a, more->lda, more->ta, row, column, x);
                times(more->alpha, x, x);
            }
            if (has_b) {
                element(more, b, more->ldb, more->tb, row, column, y);
                times(more->beta, y, y);
            }
            x[0] += y[0], x[1] += y[1];
            blas_narrow(types[more->letter], c, (size_t)column * (size_t)more->ldc + (size_t)row,
                        x);
        }
    wrote_matrix(more, more->c, more->ldc);
}

/* c = diag(x) a, or a diag(x); b is x, and ldb its increment. */
static void run_dgmm(void *data)
{
    struct more *more = data;
    int numbers = more->side ? more->n : more->m;
    const void *a = open_matrix(more, more->a, more->lda, 0);
    const void *b = lk_library_bytes(more->b, matrix_bytes(more, 1, numbers, abs(more->ldb)));
    void *c = open_matrix(more, more->c, more->ldc, 0);
    if (!a || !b || !c)
        return;
    for (int column = 0; column < more->n; column++)
        for (int row = 0; row < more->m; row++) {
            double x[2] = {0}, y[2] = {0};
            int at = more->side ? column : row;
            int place = more->ldb < 0 ? (at - numbers + 1) * more->ldb : at * more->ldb;
            element(more, a, more->lda, 0, row, column, x);
            blas_widen(types[more->letter], b, (size_t)place, y);
            times(x, y, x);
            blas_narrow(types[more->letter], c, (size_t)column * (size_t)more->ldc + (size_t)row,
                        x);
        }
    wrote_matrix(more, more->c, more->ldc);
}

/* Batches of small systems, by LAPACK
 * ------------------------------------------------------------*/

static void run_getrf(void *data)
{
    struct more *more = data;
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    getrf *function = (getrf *)function_of(more, "getrf_");
    size_t pivots_size = (size_t)more->n * (size_t)more->count * sizeof(int);
    int *own = malloc(((size_t)more->n + 1) * sizeof *own);
    int *all = more->pivots ? lk_library_bytes(more->pivots, pivots_size) : NULL;
    int *infos = lk_library_bytes(more->infos, (size_t)more->count * sizeof *infos);
    for (int at = 0; function && own && infos && at < more->count; at++) {
        void *a = batch_at(more->a, at), *open_a = open_matrix(more, a, more->lda, 0);
        int *pivots = all ? all + (size_t)at * (size_t)more->n : own;
        if (open_a)
            function(&more->n, &more->n, open_a, &more->lda, pivots, infos + at);
        wrote_matrix(more, a, more->lda);
    }
    if (more->pivots)
        lk_library_wrote(more->pivots, pivots_size);
    lk_library_wrote(more->infos, (size_t)more->count * sizeof(int));
    free(own);
}

static void run_getri(void *data)
{
    struct more *more = data;
    typedef void getri(const int *, void *, const int *, const int *, void *, const int *, int *);
    getri *function = (getri *)function_of(more, "getri_");
    size_t size = blas_type_size(types[more->letter]);
    const int work_size = more->n * 64 + 1;
    void *work = malloc((size_t)work_size * size);
    int *infos = lk_library_bytes(more->infos, (size_t)more->count * sizeof *infos);
    const int *pivots =
        lk_library_bytes(more->pivots, (size_t)more->n * (size_t)more->count * sizeof *pivots);
    for (int at = 0; function && work && infos && pivots && at < more->count; at++) {
        char *to = batch_at(more->c, at), *c = open_matrix(more, to, more->ldc, 0);
        const char *a = open_matrix(more, batch_at(more->a, at), more->lda, 0);
        if (!a || !c)
            continue;
        for (int column = 0; column < more->n; column++)
            memcpy(c + (size_t)column * (size_t)more->ldc * size,
                   a + (size_t)column * (size_t)more->lda * size, (size_t)more->n * size);
        function(&more->n, c, &more->ldc, pivots + (size_t)at * (size_t)more->n, work, &work_size,
                 infos + at);
        wrote_matrix(more, to, more->ldc);
    }
    lk_library_wrote(more->infos, (size_t)more->count * sizeof(int));
    free(work);
}

/* m: the system's size, n: how many right sides */
static void run_getrs(void *data)
{
    struct more *more = data;
    typedef void getrs(const char *, const int *, const int *, const void *, const int *,
                       const int *, void *, const int *, int *);
    getrs *function = (getrs *)function_of(more, "getrs_");
    const int *pivots =
        lk_library_bytes(more->pivots, (size_t)more->m * (size_t)more->count * sizeof *pivots);
    for (int at = 0; function && pivots && at < more->count; at++) {
        int info;
        void *b = batch_at(more->b, at), *open_b = open_matrix(more, b, more->ldb, 0);
        const void *a = lk_library_bytes(batch_at(more->a, at),
                                         matrix_bytes(more, more->m, more->m, more->lda));
        if (a && open_b)
            function(&"NTC"[more->ta], &more -> m, &more -> n, a, &more -> lda,
                     pivots + (size_t)at * (size_t)more -> m, open_b, &more -> ldb, &info);
        wrote_matrix(more, b, more->ldb);
    }
}

#define DEFINE(symbol, parameters)                                                                 \
    EXPORT enum blas_status symbol parameters;                                                     \
    EXPORT enum blas_status symbol parameters
#define MORE(...) ((struct more){.letter = L, __VA_ARGS__})
#define FUNCTIONS(X, which)                                                                        \
    DEFINE(cublas##X##trmm_v2,                                                                     \
           (handle_t handle, int side, int fill, int trans, int diagonal, int m, int n,            \
            const void *alpha, const void *a, int lda, const void *b, int ldb, void *c, int ldc))  \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "trmm", run_trmm,                                           \
                   MORE(.side = side, .fill = fill, .ta = trans, .diagonal = diagonal, .m = m,     \
                        .n = n, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc),       \
                   alpha, NULL, side ? n : m);                                                     \
    }                                                                                              \
    DEFINE(cublas##X##trsmBatched,                                                                 \
           (handle_t handle, int side, int fill, int trans, int diagonal, int m, int n,            \
            const void *alpha, const void *a, int lda, const void *b, int ldb, int count))         \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "trsmBatched", run_trsm_batched,                            \
                   MORE(.side = side, .fill = fill, .ta = trans, .diagonal = diagonal, .m = m,     \
                        .n = n, .a = a, .lda = lda, .b = b, .ldb = ldb, .count = count),           \
                   alpha, NULL, side ? n : m);                                                     \
    }                                                                                              \
    DEFINE(cublas##X##geam,                                                                        \
           (handle_t handle, int ta, int tb, int m, int n, const void *alpha, const void *a,       \
            int lda, const void *beta, const void *b, int ldb, void *c, int ldc))                  \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "geam", run_geam,                                           \
                   MORE(.ta = ta, .tb = tb, .m = m, .n = n, .a = a, .lda = lda, .b = b,            \
                        .ldb = ldb, .c = c, .ldc = ldc),                                           \
                   alpha, beta, 1);                                                                \
    }                                                                                              \
    DEFINE(cublas##X##dgmm, (handle_t handle, int side, int m, int n, const void *a, int lda,      \
                             const void *x, int inc, void *c, int ldc))                            \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "dgmm", run_dgmm,                                           \
                   MORE(.side = side, .m = m, .n = n, .a = a, .lda = lda, .b = x, .ldb = inc,      \
                        .c = c, .ldc = ldc),                                                       \
                   NULL, NULL, 1);                                                                 \
    }                                                                                              \
    DEFINE(cublas##X##getrfBatched,                                                                \
           (handle_t handle, int n, void *const *a, int lda, int *pivots, int *infos, int count))  \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "getrfBatched", run_getrf,                                  \
                   MORE(.m = n, .n = n, .a = a, .lda = lda, .pivots = pivots, .infos = infos,      \
                        .count = count),                                                           \
                   NULL, NULL, n);                                                                 \
    }                                                                                              \
    DEFINE(cublas##X##getriBatched,                                                                \
           (handle_t handle, int n, const void *const *a, int lda, const int *pivots,              \
            void *const *c, int ldc, int *infos, int count))                                       \
    {                                                                                              \
        enum { L = which };                                                                        \
        return put(handle, "cublas" #X "getriBatched", run_getri,                                  \
                   MORE(.m = n, .n = n, .a = a, .lda = lda, .pivots = (int *)pivots,               \
                        .c = (void *)c, .ldc = ldc, .infos = infos, .count = count),               \
                   NULL, NULL, n);                                                                 \
    }                                                                                              \
    DEFINE(cublas##X##getrsBatched,                                                                \
           (handle_t handle, int trans, int n, int columns, const void *const *a, int lda,         \
            const int *pivots, void *const *b, int ldb, int *info, int count))                     \
    {                                                                                              \
        enum { L = which };                                                                        \
        *info = 0;                                                                                 \
        return put(handle, "cublas" #X "getrsBatched", run_getrs,                                  \
                   MORE(.ta = trans, .m = n, .n = columns, .a = a, .lda = lda,                     \
                        .pivots = (int *)pivots, .b = b, .ldb = ldb, .count = count),              \
                   NULL, NULL, n);                                                                 \
    }
FUNCTIONS(S, 0)
FUNCTIONS(D, 1)
FUNCTIONS(C, 2)
FUNCTIONS(Z, 3)
