/*
 * jacobi.c: cuSOLVER's calls by Jacobi's method, single and batched: singular values (gesvdj) and
 * eigenvalues (syevj, heevj). LAPACK's algorithms give the same numbers to rounding; values are
 * always sorted. How many sweeps it took is not known, and those calls say so.
 */
#include "clients/blas/solver.h"

#include <stdlib.h>

/* cuSOLVER's parameters (tolerance, sweeps, order) do not matter to LAPACK. */
struct jacobi_info {
    int unused;
};

/* v [n][k] from LAPACK's [k][n], with conjugates */
static void turn(const struct solve *s, void *v, int ldv, const void *from, int k)
{
    size_t part = real(s), parts = is_complex(s) ? 2 : 1;
    for (int row = 0; row < s->n; row++) {
        for (int column = 0; column < k; column++) {
            char *out = (char *)v + ((size_t)column * (size_t)ldv + (size_t)row) * element(s);
            const char *in =
                (const char *)from + ((size_t)row * (size_t)k + (size_t)column) * element(s);
            memcpy(out, in, part * parts);
            if (parts == 2) /* the sign of the imaginary part is the last byte's highest bit */
                out[2 * part - 1] = (char)(out[2 * part - 1] ^ 0x80);
        }
    }
}

/* s->first: A, S or N, as LAPACK has it; the matrices of a batch follow each other. */
void solver_run_gesvdj(void *data)
{
    struct solve *s = data;
    int some = least(s->m, s->n), k = s->first == 'S' ? some : s->n;
    int columns = s->first == 'S' ? some : s->m;
    void *turned = malloc((size_t)s->n * (size_t)k * element(s) + 1);
    s->second = s->first;
    for (int i = 0; turned && i < s->count; i++) {
        size_t at = (size_t)i * element(s);
        void *a =
            matrix(s, (char *)s->a + at * (size_t)s->lda * (size_t)s->n, s->m, s->n, s->lda, true);
        void *values =
            vector((char *)s->values + (size_t)i * real(s) * (size_t)some, real(s) * (size_t)some);
        void *u = s, *v = s;
        if (s->first != 'N') {
            u = matrix(s, (char *)s->b + at * (size_t)s->ldb * (size_t)columns, s->m, columns,
                       s->ldb, true);
            v = matrix(s, (char *)s->c + at * (size_t)s->ldc * (size_t)k, s->n, k, s->ldc, true);
        }
        int *info = vector(s->infos + i, sizeof *info);
        if (!a || !values || !u || !v || !info)
            break;
        solver_gesvd(s, a, values, u, s->first == 'N' ? 1 : s->ldb, turned, k, info);
        if (s->first != 'N')
            turn(s, v, s->ldc, turned, k);
    }
    free(turned);
}

static void run_syevj(void *data)
{
    struct solve *s = data;
    for (int i = 0; i < s->count; i++) {
        size_t size = (size_t)i * element(s) * (size_t)s->lda * (size_t)s->n;
        void *a = matrix(s, (char *)s->a + size, s->n, s->n, s->lda, true);
        void *values =
            vector((char *)s->values + (size_t)i * real(s) * (size_t)s->n, real(s) * (size_t)s->n);
        int *info = vector(s->infos + i, sizeof *info);
        if (!a || !values || !info)
            break;
        solver_syevd(s, a, values, info);
    }
}

static char svd_job(int job, int econ)
{
    return !job ? 'N' : econ ? 'S' : 'A';
}

#define SINGULAR(X, x)                                                                             \
    API(cusolverDn##X##gesvdj_bufferSize, handle_t h, int job, int econ, int m, int n, void *a,    \
        int lda, void *values, void *u, int ldu, void *v, int ldv, int *size, void *params)        \
    {                                                                                              \
        (void)h, (void)job, (void)econ, (void)m, (void)n, (void)a, (void)lda, (void)values;        \
        (void)u, (void)ldu, (void)v, (void)ldv, (void)params;                                      \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##gesvdj, handle_t h, int job, int econ, int m, int n, void *a, int lda,      \
        void *values, void *u, int ldu, void *v, int ldv, void *work, int size, int *info,         \
        void *params)                                                                              \
    {                                                                                              \
        (void)work, (void)size, (void)params;                                                      \
        return solver_put(h, "cusolverDn" #X "gesvdj", solver_run_gesvdj,                          \
                          (struct solve){x, svd_job(job, econ), .m = m, .n = n, .a = a,            \
                                         .lda = lda, .values = values, .b = u, .ldb = ldu, .c = v, \
                                         .ldc = ldv, .infos = info});                              \
    }                                                                                              \
    API(cusolverDn##X##gesvdjBatched_bufferSize, handle_t h, int job, int m, int n, void *a,       \
        int lda, void *values, void *u, int ldu, void *v, int ldv, int *size, void *params,        \
        int count)                                                                                 \
    {                                                                                              \
        (void)h, (void)job, (void)m, (void)n, (void)a, (void)lda, (void)values, (void)u;           \
        (void)ldu, (void)v, (void)ldv, (void)params, (void)count;                                  \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##gesvdjBatched, handle_t h, int job, int m, int n, void *a, int lda,         \
        void *values, void *u, int ldu, void *v, int ldv, void *work, int size, int *infos,        \
        void *params, int count)                                                                   \
    {                                                                                              \
        (void)work, (void)size, (void)params;                                                      \
        if (m > 32 || n > 32 || count < 1) /* as a GPU's */                                        \
            return SOLVER_INVALID;                                                                 \
        return solver_put(h, "cusolverDn" #X "gesvdjBatched", solver_run_gesvdj,                   \
                          (struct solve){x, svd_job(job, 0), .m = m, .n = n, .a = a, .lda = lda,   \
                                         .values = values, .b = u, .ldb = ldu, .c = v, .ldc = ldv, \
                                         .infos = infos, .count = count});                         \
    }
#define EIGEN(X, x, syevj)                                                                         \
    API(cusolverDn##X##syevj##_bufferSize, handle_t h, int job, int fill, int n, void *a, int lda, \
        void *values, int *size, void *params)                                                     \
    {                                                                                              \
        (void)h, (void)job, (void)fill, (void)n, (void)a, (void)lda, (void)values, (void)params;   \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##syevj, handle_t h, int job, int fill, int n, void *a, int lda,              \
        void *values, void *work, int size, int *info, void *params)                               \
    {                                                                                              \
        (void)work, (void)size, (void)params;                                                      \
        return solver_put(h, "cusolverDn" #X #syevj, run_syevj,                                    \
                          (struct solve){x, job ? 'V' : 'N', FILL(fill), .n = n, .a = a,           \
                                         .lda = lda, .values = values, .infos = info});            \
    }                                                                                              \
    API(cusolverDn##X##syevj##Batched_bufferSize, handle_t h, int job, int fill, int n, void *a,   \
        int lda, void *values, int *size, void *params, int count)                                 \
    {                                                                                              \
        (void)h, (void)job, (void)fill, (void)n, (void)a, (void)lda, (void)values, (void)params;   \
        (void)count;                                                                               \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }                                                                                              \
    API(cusolverDn##X##syevj##Batched, handle_t h, int job, int fill, int n, void *a, int lda,     \
        void *values, void *work, int size, int *infos, void *params, int count)                   \
    {                                                                                              \
        (void)work, (void)size, (void)params;                                                      \
        if (count < 1)                                                                             \
            return SOLVER_INVALID;                                                                 \
        return solver_put(h, "cusolverDn" #X #syevj "Batched", run_syevj,                          \
                          (struct solve){x, job ? 'V' : 'N', FILL(fill), .n = n, .a = a,           \
                                         .lda = lda, .values = values, .infos = infos,             \
                                         .count = count});                                         \
    }
SINGULAR(S, 's')
SINGULAR(D, 'd')
SINGULAR(C, 'c')
SINGULAR(Z, 'z')
EIGEN(S, 's', syevj)
EIGEN(D, 'd', syevj)
EIGEN(C, 'c', heevj)
EIGEN(Z, 'z', heevj)

#define PARAMETERS(Name, name)                                                                     \
    API(cusolverDnCreate##Name##Info, struct jacobi_info **info)                                   \
    {                                                                                              \
        *info = calloc(1, sizeof **info);                                                          \
        return *info ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;                                       \
    }                                                                                              \
    API(cusolverDnDestroy##Name##Info, struct jacobi_info *info)                                   \
    {                                                                                              \
        free(info);                                                                                \
        return SOLVER_SUCCESS;                                                                     \
    }                                                                                              \
    API(cusolverDnX##name##SetTolerance, struct jacobi_info *info, double tolerance)               \
    {                                                                                              \
        (void)tolerance;                                                                           \
        return info ? SOLVER_SUCCESS : SOLVER_INVALID;                                             \
    }                                                                                              \
    API(cusolverDnX##name##SetMaxSweeps, struct jacobi_info *info, int sweeps)                     \
    {                                                                                              \
        (void)sweeps;                                                                              \
        return info ? SOLVER_SUCCESS : SOLVER_INVALID;                                             \
    }                                                                                              \
    API(cusolverDnX##name##SetSortEig, struct jacobi_info *info, int sorted)                       \
    {                                                                                              \
        (void)sorted;                                                                              \
        return info ? SOLVER_SUCCESS : SOLVER_INVALID;                                             \
    }
PARAMETERS(Gesvdj, gesvdj)
PARAMETERS(Syevj, syevj)
