/*
 * solver.c: the drop-in libcusolver for simulated GPUs: dense factorisations, solutions, singular
 * and eigenvalues by the LAPACK in OpenBLAS. Work areas are LAPACK's own, so that programs need
 * none.
 */
#include "clients/blas/solver.h"

#include <complex.h>
#include <stdlib.h>

/* The kinds
 * --------------------------------------------------------------------------------------*/

void solver_run_potrf(void *data)
{
    struct solve *s = data;
    typedef void potrf(const char *, const int *, void *, const int *, int *);
    potrf *function = (potrf *)lapack(s, "potrf_");
    int *infos = vector(s->infos, sizeof *infos * (size_t)s->count);
    for (int i = 0; function && infos && i < s->count; i++) {
        void *at = s->a;
        if (s->k) { /* an array of pointers */
            void **list = lk_library_bytes((void **)s->a + i, sizeof *list);
            at = list ? *list : NULL;
        }
        void *a = at ? matrix(s, at, s->n, s->n, s->lda, true) : NULL;
        if (a)
            function(&s->first, &s->n, a, &s->lda, infos + i);
    }
}

void solver_run_potrs(void *data)
{
    struct solve *s = data;
    typedef void potrs(const char *, const int *, const int *, void *, const int *, void *,
                       const int *, int *);
    potrs *function = (potrs *)lapack(s, "potrs_");
    int *info = vector(s->infos, sizeof *info);
    for (int i = 0; function && info && i < s->count; i++) {
        void *at_a = s->a, *at_b = s->b;
        if (s->second) { /* arrays of pointers */
            void **list_a = lk_library_bytes((void **)s->a + i, sizeof *list_a);
            void **list_b = lk_library_bytes((void **)s->b + i, sizeof *list_b);
            at_a = list_a ? *list_a : NULL;
            at_b = list_b ? *list_b : NULL;
        }
        void *a = at_a ? matrix(s, at_a, s->n, s->n, s->lda, false) : NULL;
        void *b = at_b ? matrix(s, at_b, s->n, s->k, s->ldb, true) : NULL;
        if (a && b)
            function(&s->first, &s->n, &s->k, a, &s->lda, b, &s->ldb, info);
    }
}

/* LU by rows, one column after the other, in doubles: without a place for pivots cuSOLVER does not
 * exchange rows, and LAPACK always does. info: the first pivot that is zero, from 1. */
void solver_plain_lu(const struct solve *s, char *a, int *info)
{
    int type = s->letter == 's'   ? TYPE_F32
               : s->letter == 'd' ? TYPE_F64
               : s->letter == 'c' ? TYPE_C32
                                  : TYPE_C64;
    size_t m = (size_t)s->m, n = (size_t)s->n;
    double complex *lu = calloc(m * n + 1, sizeof *lu);
    if (!lu)
        lk_library_fail("there is not enough memory for an LU without pivots");
    for (size_t at = 0; lu && at < m * n; at++) {
        double parts[2] = {0, 0};
        blas_widen((enum blas_type)type, a, at / m * (size_t)s->lda + at % m, parts);
        lu[at] = CMPLX(parts[0], parts[1]);
    }
    *info = 0;
    for (size_t k = 0; lu && k < m && k < n; k++) {
        double complex pivot = lu[k * m + k];
        if (*info == 0 && creal(pivot) == 0 && cimag(pivot) == 0)
            *info = (int)k + 1;
        for (size_t i = k + 1; i < m; i++)
            lu[k * m + i] /= pivot;
        for (size_t j = k + 1; j < n; j++)
            for (size_t i = k + 1; i < m; i++)
                lu[j * m + i] -= lu[k * m + i] * lu[j * m + k];
    }
    for (size_t at = 0; lu && at < m * n; at++) {
        double parts[2] = {creal(lu[at]), cimag(lu[at])};
        blas_narrow((enum blas_type)type, a, at / m * (size_t)s->lda + at % m, parts);
    }
    free(lu);
}

/* Those of a matrix whose rows were not exchanged; free them. */
int *solver_no_pivots(int n)
{
    int *pivots = malloc(((size_t)n + 1) * sizeof *pivots);
    for (int i = 0; pivots && i < n; i++)
        pivots[i] = i + 1;
    return pivots;
}

static void run_getrf(void *data)
{
    struct solve *s = data;
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    getrf *function = (getrf *)lapack(s, "getrf_");
    void *a = matrix(s, s->a, s->m, s->n, s->lda, true);
    int *info = vector(s->infos, sizeof *info);
    if (!s->pivots) {
        if (a && info)
            solver_plain_lu(s, a, info);
        return;
    }
    int *pivots = vector(s->pivots, sizeof *pivots * (size_t)least(s->m, s->n));
    if (function && a && pivots && info)
        function(&s->m, &s->n, a, &s->lda, pivots, info);
}

static void run_getrs(void *data)
{
    struct solve *s = data;
    typedef void getrs(const char *, const int *, const int *, void *, const int *, int *, void *,
                       const int *, int *);
    getrs *function = (getrs *)lapack(s, "getrs_");
    void *a = matrix(s, s->a, s->n, s->n, s->lda, false),
         *b = matrix(s, s->b, s->n, s->k, s->ldb, true);
    int *own = s->pivots ? NULL : solver_no_pivots(s->n);
    int *pivots = own ? own : lk_library_bytes(s->pivots, sizeof *pivots * (size_t)s->n);
    int *info = vector(s->infos, sizeof *info);
    if (function && a && b && pivots && info)
        function(&s->first, &s->n, &s->k, a, &s->lda, pivots, b, &s->ldb, info);
    free(own);
}

/* geqrf (k < 0), and orgqr or ungqr with k reflections */
void solver_run_qr(void *data)
{
    struct solve *s = data;
    typedef void geqrf(const int *, const int *, void *, const int *, void *, void *, const int *,
                       int *);
    typedef void orgqr(const int *, const int *, const int *, void *, const int *, void *, void *,
                       const int *, int *);
    bool factors = s->k < 0;
    void *function = lapack(s, factors ? "geqrf_" : is_complex(s) ? "ungqr_" : "orgqr_");
    void *a = matrix(s, s->a, s->m, s->n, s->lda, true);
    void *tau = vector(s->values, element(s) * (size_t)(factors ? least(s->m, s->n) : s->k));
    int *info = vector(s->infos, sizeof *info), size = -1;
    double answer[2] = {0};
    void *work = answer;
    for (int turn = 0; function && a && tau && info && turn < 2; turn++) {
        if (factors)
            ((geqrf *)function)(&s->m, &s->n, a, &s->lda, tau, work, &size, info);
        else
            ((orgqr *)function)(&s->m, &s->n, &s->k, a, &s->lda, tau, work, &size, info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (work != answer)
        free(work);
}

static void run_ormqr(void *data)
{
    struct solve *s = data;
    typedef void ormqr(const char *, const char *, const int *, const int *, const int *, void *,
                       const int *, void *, void *, const int *, void *, const int *, int *);
    ormqr *function = (ormqr *)lapack(s, is_complex(s) ? "unmqr_" : "ormqr_");
    int order = s->first == 'L' ? s->m : s->n, size = -1;
    void *a = matrix(s, s->a, order, s->k, s->lda, false),
         *c = matrix(s, s->c, s->m, s->n, s->ldc, true);
    void *tau = lk_library_bytes(s->values, element(s) * (size_t)s->k);
    int *info = vector(s->infos, sizeof *info);
    double answer[2] = {0};
    void *work = answer;
    for (int turn = 0; function && a && c && tau && info && turn < 2; turn++) {
        function(&s->first, &s->second, &s->m, &s->n, &s->k, a, &s->lda, tau, c, &s->ldc, work,
                 &size, info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (work != answer)
        free(work);
}

/* Columns of U, or rows of V, that a job writes. */
static int width(char job, int all, int some)
{
    return job == 'A' ? all : job == 'S' ? some : 0;
}

void solver_gesvd(const struct solve *s, void *a, void *values, void *u, int ldu, void *v, int ldv,
                  int *info)
{
    typedef void of_reals(const char *, const char *, const int *, const int *, void *, const int *,
                          void *, void *, const int *, void *, const int *, void *, const int *,
                          int *);
    typedef void of_complex(const char *, const char *, const int *, const int *, void *,
                            const int *, void *, void *, const int *, void *, const int *, void *,
                            const int *, void *, int *);
    void *function = lapack(s, "gesvd_");
    int size = -1;
    double answer[2] = {0};
    void *work = answer, *real_work = malloc(5 * (size_t)(least(s->m, s->n) + 1) * sizeof(double));
    for (int turn = 0; function && real_work && turn < 2; turn++) {
        if (is_complex(s))
            ((of_complex *)function)(&s->first, &s->second, &s->m, &s->n, a, &s->lda, values, u,
                                     &ldu, v, &ldv, work, &size, real_work, info);
        else
            ((of_reals *)function)(&s->first, &s->second, &s->m, &s->n, a, &s->lda, values, u, &ldu,
                                   v, &ldv, work, &size, info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (work != answer)
        free(work);
    free(real_work);
}

void solver_run_gesvd(void *data)
{
    struct solve *s = data;
    int some = least(s->m, s->n), columns = width(s->first, s->m, some);
    int rows = width(s->second, s->n, some);
    void *a = matrix(s, s->a, s->m, s->n, s->lda, true);
    void *u = columns ? matrix(s, s->b, s->m, columns, s->ldb, true) : s;
    void *v = rows ? matrix(s, s->c, rows, s->n, s->ldc, true) : s;
    void *values = vector(s->values, real(s) * (size_t)some);
    int *info = vector(s->infos, sizeof *info);
    if (a && u && v && values && info)
        solver_gesvd(s, a, values, u, s->ldb, v, s->ldc, info);
}

/* The plain algorithm, which needs no integers. */
void solver_syevd(const struct solve *s, void *a, void *values, int *info)
{
    typedef void of_reals(const char *, const char *, const int *, void *, const int *, void *,
                          void *, const int *, int *);
    typedef void of_complex(const char *, const char *, const int *, void *, const int *, void *,
                            void *, const int *, void *, int *);
    void *function = lapack(s, is_complex(s) ? "heev_" : "syev_");
    int size = -1;
    double answer[2] = {0};
    void *work = answer, *real_work = malloc(3 * (size_t)(s->n + 1) * sizeof(double));
    for (int turn = 0; function && real_work && turn < 2; turn++) {
        if (is_complex(s))
            ((of_complex *)function)(&s->first, &s->second, &s->n, a, &s->lda, values, work, &size,
                                     real_work, info);
        else
            ((of_reals *)function)(&s->first, &s->second, &s->n, a, &s->lda, values, work, &size,
                                   info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (work != answer)
        free(work);
    free(real_work);
}

static void run_syevd(void *data)
{
    struct solve *s = data;
    void *a = matrix(s, s->a, s->n, s->n, s->lda, true);
    void *values = vector(s->values, real(s) * (size_t)s->n);
    int *info = vector(s->infos, sizeof *info);
    if (a && values && info)
        solver_syevd(s, a, values, info);
}

/* In the stream
 * ----------------------------------------------------------------------------------*/

int solver_put_call(handle_t handle, const char *name, void (*run)(void *),
                    const struct solve *solve, const void *data, size_t size)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    if (solve->m < 0 || solve->n < 0 || !solve->infos || !solve->a)
        return SOLVER_INVALID;
    if (!blas_function("dgetrf_"))
        return SOLVER_NOT_INITIALIZED;
    double n = solve->n, m = solve->m ? solve->m : n, count = solve->count ? solve->count : 1;
    struct lk_library_call call = {.name = name,
                                   .function = run,
                                   .data = data,
                                   .size = size,
                                   .operations = 2 * m * n * n * count,
                                   .bytes = 2 * m * n * (double)element(solve) * count,
                                   .unit = real(solve) == 8 ? LK_UNIT_F64 : LK_UNIT_F32};
    return lk_library_call(handle->stream, &call) == CUDA_SUCCESS ? SOLVER_SUCCESS
                                                                  : SOLVER_EXECUTION_FAILED;
}

int solver_put(handle_t handle, const char *name, void (*run)(void *), struct solve solve)
{
    solve.count = solve.count ? solve.count : 1;
    return solver_put_call(handle, name, run, &solve, &solve, sizeof solve);
}

#define POSITIVE(X, x)                                                                             \
    API(cusolverDn##X##potrf_bufferSize, handle_t h, int fill, int n, void *a, int lda, int *size) \
    {                                                                                              \
        (void)h, (void)fill, (void)n, (void)a, (void)lda;                                          \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##potrf, handle_t h, int fill, int n, void *a, int lda, void *work, int size, \
        int *info)                                                                                 \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(                                                                         \
            h, "cusolverDn" #X "potrf", solver_run_potrf,                                          \
            (struct solve){x, FILL(fill), .n = n, .a = a, .lda = lda, .infos = info});             \
    }                                                                                              \
    API(cusolverDn##X##potrfBatched, handle_t h, int fill, int n, void *a, int lda, int *infos,    \
        int count)                                                                                 \
    {                                                                                              \
        return solver_put(h, "cusolverDn" #X "potrfBatched", solver_run_potrf,                     \
                          (struct solve){x, FILL(fill), .n = n, .k = 1, .a = a, .lda = lda,        \
                                         .infos = infos, .count = count});                         \
    }                                                                                              \
    API(cusolverDn##X##potrs, handle_t h, int fill, int n, int k, void *a, int lda, void *b,       \
        int ldb, int *info)                                                                        \
    {                                                                                              \
        return solver_put(h, "cusolverDn" #X "potrs", solver_run_potrs,                            \
                          (struct solve){x, FILL(fill), .n = n, .k = k, .a = a, .lda = lda,        \
                                         .b = b, .ldb = ldb, .infos = info});                      \
    }                                                                                              \
    API(cusolverDn##X##potrsBatched, handle_t h, int fill, int n, int k, void *a, int lda,         \
        void *b, int ldb, int *info, int count)                                                    \
    {                                                                                              \
        if (k != 1 || count < 1) /* as on a GPU */                                                 \
            return SOLVER_INVALID;                                                                 \
        return solver_put(h, "cusolverDn" #X "potrsBatched", solver_run_potrs,                     \
                          (struct solve){x, FILL(fill), 'B', .n = n, .k = k, .a = a, .lda = lda,   \
                                         .b = b, .ldb = ldb, .infos = info, .count = count});      \
    }
#define GENERAL(X, x)                                                                              \
    API(cusolverDn##X##getrf_bufferSize, handle_t h, int m, int n, void *a, int lda, int *size)    \
    {                                                                                              \
        (void)h, (void)m, (void)n, (void)a, (void)lda;                                             \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##getrf, handle_t h, int m, int n, void *a, int lda, void *work, int *pivots, \
        int *info)                                                                                 \
    {                                                                                              \
        (void)work;                                                                                \
        return solver_put(h, "cusolverDn" #X "getrf", run_getrf,                                   \
                          (struct solve){x, .m = m, .n = n, .a = a, .lda = lda, .pivots = pivots,  \
                                         .infos = info});                                          \
    }                                                                                              \
    API(cusolverDn##X##getrs, handle_t h, int operation, int n, int k, void *a, int lda,           \
        int *pivots, void *b, int ldb, int *info)                                                  \
    {                                                                                              \
        return solver_put(h, "cusolverDn" #X "getrs", run_getrs,                                   \
                          (struct solve){x, TRANSPOSE(operation), .n = n, .k = k, .a = a,          \
                                         .lda = lda, .pivots = pivots, .b = b, .ldb = ldb,         \
                                         .infos = info});                                          \
    }                                                                                              \
    API(cusolverDn##X##geqrf_bufferSize, handle_t h, int m, int n, void *a, int lda, int *size)    \
    {                                                                                              \
        (void)h, (void)m, (void)n, (void)a, (void)lda;                                             \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##geqrf, handle_t h, int m, int n, void *a, int lda, void *tau, void *work,   \
        int size, int *info)                                                                       \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(h, "cusolverDn" #X "geqrf", solver_run_qr,                               \
                          (struct solve){x, .m = m, .n = n, .k = -1, .a = a, .lda = lda,           \
                                         .values = tau, .infos = info});                           \
    }                                                                                              \
    API(cusolverDn##X##gesvd_bufferSize, handle_t h, int m, int n, int *size)                      \
    {                                                                                              \
        (void)h, (void)m, (void)n;                                                                 \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##gesvd, handle_t h, signed char u_job, signed char v_job, int m, int n,      \
        void *a, int lda, void *values, void *u, int ldu, void *v, int ldv, void *work, int size,  \
        void *real_work, int *info)                                                                \
    {                                                                                              \
        (void)work, (void)size, (void)real_work;                                                   \
        return solver_put(h, "cusolverDn" #X "gesvd", solver_run_gesvd,                            \
                          (struct solve){x, (char)u_job, (char)v_job, .m = m, .n = n, .a = a,      \
                                         .lda = lda, .values = values, .b = u, .ldb = ldu, .c = v, \
                                         .ldc = ldv, .infos = info});                              \
    }
#define REFLECTIONS(X, x, org, orm, syevd)                                                         \
    API(cusolverDn##X##org##_bufferSize, handle_t h, int m, int n, int k, void *a, int lda,        \
        void *tau, int *size)                                                                      \
    {                                                                                              \
        (void)h, (void)m, (void)n, (void)k, (void)a, (void)lda, (void)tau;                         \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##org, handle_t h, int m, int n, int k, void *a, int lda, void *tau,          \
        void *work, int size, int *info)                                                           \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(h, "cusolverDn" #X #org, solver_run_qr,                                  \
                          (struct solve){x, .m = m, .n = n, .k = k, .a = a, .lda = lda,            \
                                         .values = tau, .infos = info});                           \
    }                                                                                              \
    API(cusolverDn##X##orm##_bufferSize, handle_t h, int side, int operation, int m, int n, int k, \
        void *a, int lda, void *tau, void *c, int ldc, int *size)                                  \
    {                                                                                              \
        (void)h, (void)side, (void)operation, (void)m, (void)n, (void)k, (void)a, (void)lda,       \
            (void)tau, (void)c, (void)ldc;                                                         \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##orm, handle_t h, int side, int operation, int m, int n, int k, void *a,     \
        int lda, void *tau, void *c, int ldc, void *work, int size, int *info)                     \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(h, "cusolverDn" #X #orm, run_ormqr,                                      \
                          (struct solve){x, side ? 'R' : 'L', TRANSPOSE(operation), .m = m,        \
                                         .n = n, .k = k, .a = a, .lda = lda, .values = tau,        \
                                         .c = c, .ldc = ldc, .infos = info});                      \
    }                                                                                              \
    API(cusolverDn##X##syevd##_bufferSize, handle_t h, int job, int fill, int n, void *a, int lda, \
        void *values, int *size)                                                                   \
    {                                                                                              \
        (void)h, (void)job, (void)fill, (void)n, (void)a, (void)lda, (void)values;                 \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##syevd, handle_t h, int job, int fill, int n, void *a, int lda,              \
        void *values, void *work, int size, int *info)                                             \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(h, "cusolverDn" #X #syevd, run_syevd,                                    \
                          (struct solve){x, job ? 'V' : 'N', FILL(fill), .n = n, .a = a,           \
                                         .lda = lda, .values = values, .infos = info});            \
    }
#define ALL(X, x, org, orm, syevd)                                                                 \
    POSITIVE(X, x)                                                                                 \
    GENERAL(X, x)                                                                                  \
    REFLECTIONS(X, x, org, orm, syevd)
ALL(S, 's', orgqr, ormqr, syevd)
ALL(D, 'd', orgqr, ormqr, syevd)
ALL(C, 'c', ungqr, unmqr, heevd)
ALL(Z, 'z', ungqr, unmqr, heevd)

/* The same with types by number, and 64-bit sizes. */
char solver_letter(int type)
{
    return type == TYPE_F32   ? 's'
           : type == TYPE_F64 ? 'd'
           : type == TYPE_C32 ? 'c'
           : type == TYPE_C64 ? 'z'
                              : 0;
}

API(cusolverDnXsyevd_bufferSize, handle_t h, void *params, int job, int fill, int64_t n, int type,
    void *a, int64_t lda, int values_type, void *values, int compute, size_t *device, size_t *host)
{
    (void)h, (void)params, (void)job, (void)fill, (void)n, (void)type, (void)a, (void)lda;
    (void)values_type, (void)values, (void)compute;
    *device = *host = 16;
    return SOLVER_SUCCESS;
}

API(cusolverDnXsyevd, handle_t h, void *params, int job, int fill, int64_t n, int type, void *a,
    int64_t lda, int values_type, void *values, int compute, void *device, size_t device_size,
    void *host, size_t host_size, int *info)
{
    (void)params, (void)values_type, (void)compute, (void)device, (void)device_size, (void)host;
    (void)host_size;
    if (!solver_letter(type) || n > INT32_MAX || lda > INT32_MAX)
        return SOLVER_INVALID;
    return solver_put(h, "cusolverDnXsyevd", run_syevd,
                      (struct solve){solver_letter(type), job ? 'V' : 'N', FILL(fill), .n = (int)n,
                                     .a = a, .lda = (int)lda, .values = values, .infos = info});
}

API(cusolverDnCreateParams, void **params)
{
    *params = calloc(1, 1);
    return *params ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

API(cusolverDnDestroyParams, void *params)
{
    free(params);
    return SOLVER_SUCCESS;
}

API(cusolverDnCreate, handle_t *handle)
{
    if (lk_library_context() != CUDA_SUCCESS)
        return SOLVER_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    return *handle ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

API(cusolverDnDestroy, handle_t handle)
{
    free(handle);
    return SOLVER_SUCCESS;
}

API(cusolverDnSetStream, handle_t handle, CUstream stream)
{
    if (handle)
        handle->stream = stream;
    return handle ? SOLVER_SUCCESS : SOLVER_NOT_INITIALIZED;
}

API(cusolverDnGetStream, handle_t handle, CUstream *stream)
{
    if (handle)
        *stream = handle->stream;
    return handle ? SOLVER_SUCCESS : SOLVER_NOT_INITIALIZED;
}

API(cusolverGetVersion, int *version)
{
    return *version = CUSOLVER_MAJOR * 1000, SOLVER_SUCCESS;
}

API(cusolverGetProperty, int property, int *value)
{
    return *value = property == 0 ? CUSOLVER_MAJOR : 0, SOLVER_SUCCESS;
}

#define NO(name)                                                                                   \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        blas_refuse(#name, "");                                                                    \
        return 9; /* CUSOLVER_STATUS_NOT_SUPPORTED */                                              \
    }
#include "clients/blas/unsupported_solver.def"
