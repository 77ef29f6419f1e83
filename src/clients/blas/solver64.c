/*
 * solver64.c: the drop-in libcusolver: the calls whose types are numbers and whose sizes have 64
 * bits (cusolverDnX...), for factorisations, solutions, singular values and inverses.
 */
#include "clients/blas/solver.h"

#include <stdlib.h>

enum { SOME_BYTES = 16 };

static bool fits(int64_t size)
{
    return size >= 0 && size <= INT32_MAX;
}

/* The numbers of the type, and sizes that LAPACK takes. */
static bool accepts(struct solve *s, int type, int64_t m, int64_t n, int64_t lda)
{
    s->letter = solver_letter(type);
    s->m = (int)m;
    s->n = (int)n;
    s->lda = (int)lda;
    return s->letter && fits(m) && fits(n) && fits(lda) && lda >= (m ? m : n) && lda > 0;
}

static int answer_size(size_t *device, size_t *host)
{
    if (!device || !host)
        return SOLVER_INVALID;
    *device = *host = SOME_BYTES;
    return SOLVER_SUCCESS;
}

#define WORK void *device, size_t device_size, void *host, size_t host_size
#define NO_WORK (void)params, (void)device, (void)device_size, (void)host, (void)host_size

/* Cholesky's factors and LU ------------------------------------------------------------------- */

API(cusolverDnXpotrf_bufferSize, handle_t h, void *params, int fill, int64_t n, int type,
    const void *a, int64_t lda, int compute, size_t *device, size_t *host)
{
    (void)h, (void)params, (void)fill, (void)n, (void)type, (void)a, (void)lda, (void)compute;
    return answer_size(device, host);
}

API(cusolverDnXpotrf, handle_t h, void *params, int fill, int64_t n, int type, void *a, int64_t lda,
    int compute, WORK, int *info)
{
    struct solve s = {.first = FILL(fill), .a = a, .infos = info};
    NO_WORK, (void)compute;
    return accepts(&s, type, 0, n, lda) ? solver_put(h, "cusolverDnXpotrf", solver_run_potrf, s)
                                        : SOLVER_INVALID;
}

API(cusolverDnXpotrs, handle_t h, void *params, int fill, int64_t n, int64_t columns, int type,
    const void *a, int64_t lda, int b_type, void *b, int64_t ldb, int *info)
{
    struct solve s = {.first = FILL(fill),
                      .k = (int)columns,
                      .a = (void *)a,
                      .b = b,
                      .ldb = (int)ldb,
                      .infos = info};
    (void)params;
    return accepts(&s, type, 0, n, lda) && fits(columns) && fits(ldb) && b_type == type
               ? solver_put(h, "cusolverDnXpotrs", solver_run_potrs, s)
               : SOLVER_INVALID;
}

/* LAPACK's pivots have 32 bits. */
struct wide_pivots {
    struct solve s;
    int64_t *pivots;
};

static void run_getrf(void *data)
{
    const struct wide_pivots *call = data;
    const struct solve *s = &call->s;
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    getrf *function = (getrf *)lapack(s, "getrf_");
    size_t count = (size_t)least(s->m, s->n);
    void *a = matrix(s, s->a, s->m, s->n, s->lda, true);
    int *info = vector(s->infos, sizeof *info);
    if (!call->pivots) {
        if (a && info)
            solver_plain_lu(s, a, info);
        return;
    }
    int64_t *wide = vector(call->pivots, sizeof *wide * count);
    int *pivots = calloc(count + 1, sizeof *pivots);
    if (function && a && wide && info && pivots) {
        function(&s->m, &s->n, a, &s->lda, pivots, info);
        for (size_t i = 0; i < count; i++)
            wide[i] = pivots[i];
    }
    free(pivots);
}

API(cusolverDnXgetrf_bufferSize, handle_t h, void *params, int64_t m, int64_t n, int type,
    const void *a, int64_t lda, int compute, size_t *device, size_t *host)
{
    (void)h, (void)params, (void)m, (void)n, (void)type, (void)a, (void)lda, (void)compute;
    return answer_size(device, host);
}

API(cusolverDnXgetrf, handle_t h, void *params, int64_t m, int64_t n, int type, void *a,
    int64_t lda, int64_t *pivots, int compute, WORK, int *info)
{
    struct wide_pivots call = {{.a = a, .infos = info}, pivots};
    NO_WORK, (void)compute;
    if (!accepts(&call.s, type, m, n, lda))
        return SOLVER_INVALID;
    return solver_put_call(h, "cusolverDnXgetrf", run_getrf, &call.s, &call, sizeof call);
}

static void run_getrs(void *data)
{
    const struct wide_pivots *call = data;
    const struct solve *s = &call->s;
    typedef void getrs(const char *, const int *, const int *, void *, const int *, int *, void *,
                       const int *, int *);
    getrs *function = (getrs *)lapack(s, "getrs_");
    size_t count = (size_t)s->n;
    void *a = matrix(s, s->a, s->n, s->n, s->lda, false),
         *b = matrix(s, s->b, s->n, s->k, s->ldb, true);
    int *info = vector(s->infos, sizeof *info), *pivots = solver_no_pivots(s->n);
    const int64_t *wide =
        call->pivots ? lk_library_bytes(call->pivots, sizeof *wide * count) : NULL;
    bool sound = pivots && (wide || !call->pivots);
    for (size_t i = 0; sound && wide && i < count; i++) {
        pivots[i] = (int)wide[i];
        if (wide[i] <= 0 || wide[i] > s->n) { /* LAPACK would write elsewhere */
            lk_library_fail("a pivot is outside the matrix");
            sound = false;
        }
    }
    if (function && a && b && info && sound)
        function(&s->first, &s->n, &s->k, a, &s->lda, pivots, b, &s->ldb, info);
    free(pivots);
}

API(cusolverDnXgetrs, handle_t h, void *params, int operation, int64_t n, int64_t columns, int type,
    const void *a, int64_t lda, const int64_t *pivots, int b_type, void *b, int64_t ldb, int *info)
{
    struct wide_pivots call = {{.first = TRANSPOSE(operation),
                                .k = (int)columns,
                                .a = (void *)a,
                                .b = b,
                                .ldb = (int)ldb,
                                .infos = info},
                               (int64_t *)pivots};
    (void)params;
    if (!accepts(&call.s, type, 0, n, lda) || !fits(columns) || !fits(ldb) || b_type != type)
        return SOLVER_INVALID;
    return solver_put_call(h, "cusolverDnXgetrs", run_getrs, &call.s, &call, sizeof call);
}

/* QR, singular values, inverses --------------------------------------------------------------- */

API(cusolverDnXgeqrf_bufferSize, handle_t h, void *params, int64_t m, int64_t n, int type,
    const void *a, int64_t lda, int tau_type, const void *tau, int compute, size_t *device,
    size_t *host)
{
    (void)h, (void)params, (void)m, (void)n, (void)type, (void)a, (void)lda, (void)tau_type;
    (void)tau, (void)compute;
    return answer_size(device, host);
}

API(cusolverDnXgeqrf, handle_t h, void *params, int64_t m, int64_t n, int type, void *a,
    int64_t lda, int tau_type, void *tau, int compute, WORK, int *info)
{
    struct solve s = {.k = -1, .a = a, .values = tau, .infos = info};
    NO_WORK, (void)compute;
    return accepts(&s, type, m, n, lda) && tau_type == type
               ? solver_put(h, "cusolverDnXgeqrf", solver_run_qr, s)
               : SOLVER_INVALID;
}

API(cusolverDnXgesvd_bufferSize, handle_t h, void *params, signed char u_job, signed char v_job,
    int64_t m, int64_t n, int type, const void *a, int64_t lda, int values_type, const void *values,
    int u_type, const void *u, int64_t ldu, int v_type, const void *v, int64_t ldv, int compute,
    size_t *device, size_t *host)
{
    (void)h, (void)params, (void)u_job, (void)v_job, (void)m, (void)n, (void)type, (void)a;
    (void)lda, (void)values_type, (void)values, (void)u_type, (void)u, (void)ldu, (void)v_type;
    (void)v, (void)ldv, (void)compute;
    return answer_size(device, host);
}

API(cusolverDnXgesvd, handle_t h, void *params, signed char u_job, signed char v_job, int64_t m,
    int64_t n, int type, void *a, int64_t lda, int values_type, void *values, int u_type, void *u,
    int64_t ldu, int v_type, void *v, int64_t ldv, int compute, WORK, int *info)
{
    struct solve s = {.first = (char)u_job,
                      .second = (char)v_job,
                      .a = a,
                      .values = values,
                      .b = u,
                      .ldb = ldu > 0 ? (int)ldu : 1,
                      .c = v,
                      .ldc = ldv > 0 ? (int)ldv : 1,
                      .infos = info};
    NO_WORK, (void)values_type, (void)u_type, (void)v_type, (void)compute;
    return accepts(&s, type, m, n, lda) && fits(ldu) && fits(ldv)
               ? solver_put(h, "cusolverDnXgesvd", solver_run_gesvd, s)
               : SOLVER_INVALID;
}

API(cusolverDnXgesvdp_bufferSize, handle_t h, void *params, int job, int econ, int64_t m, int64_t n,
    int type, const void *a, int64_t lda, int values_type, const void *values, int u_type,
    const void *u, int64_t ldu, int v_type, const void *v, int64_t ldv, int compute, size_t *device,
    size_t *host)
{
    (void)h, (void)params, (void)job, (void)econ, (void)m, (void)n, (void)type, (void)a, (void)lda;
    (void)values_type, (void)values, (void)u_type, (void)u, (void)ldu, (void)v_type, (void)v;
    (void)ldv, (void)compute;
    return answer_size(device, host);
}

/* By polar factors there; error: of singular values so small that they were perturbed. None are. */
API(cusolverDnXgesvdp, handle_t h, void *params, int job, int econ, int64_t m, int64_t n, int type,
    void *a, int64_t lda, int values_type, void *values, int u_type, void *u, int64_t ldu,
    int v_type, void *v, int64_t ldv, int compute, WORK, int *info, double *error)
{
    struct solve s = {.first = !job   ? 'N'
                               : econ ? 'S'
                                      : 'A',
                      .a = a,
                      .values = values,
                      .b = u,
                      .ldb = ldu > 0 ? (int)ldu : 1,
                      .c = v,
                      .ldc = ldv > 0 ? (int)ldv : 1,
                      .infos = info};
    NO_WORK, (void)values_type, (void)u_type, (void)v_type, (void)compute;
    if (!accepts(&s, type, m, n, lda) || !fits(ldu) || !fits(ldv) || !error)
        return SOLVER_INVALID;
    *error = 0;
    return solver_put(h, "cusolverDnXgesvdp", solver_run_gesvdj, s);
}

static void run_trtri(void *data)
{
    const struct solve *s = data;
    typedef void trtri(const char *, const char *, const int *, void *, const int *, int *);
    trtri *function = (trtri *)lapack(s, "trtri_");
    void *a = matrix(s, s->a, s->n, s->n, s->lda, true);
    int *info = vector(s->infos, sizeof *info);
    if (function && a && info)
        function(&s->first, &s->second, &s->n, a, &s->lda, info);
}

API(cusolverDnXtrtri_bufferSize, handle_t h, int fill, int unit, int64_t n, int type, void *a,
    int64_t lda, size_t *device, size_t *host)
{
    (void)h, (void)fill, (void)unit, (void)n, (void)type, (void)a, (void)lda;
    return answer_size(device, host);
}

API(cusolverDnXtrtri, handle_t h, int fill, int unit, int64_t n, int type, void *a, int64_t lda,
    WORK, int *info)
{
    struct solve s = {.first = FILL(fill), .second = unit ? 'U' : 'N', .a = a, .infos = info};
    (void)device, (void)device_size, (void)host, (void)host_size;
    return accepts(&s, type, 0, n, lda) ? solver_put(h, "cusolverDnXtrtri", run_trtri, s)
                                        : SOLVER_INVALID;
}

API(cusolverDnSetAdvOptions, void *params, int function, int algorithm)
{
    (void)function, (void)algorithm; /* LAPACK's own, whatever was chosen */
    return params ? SOLVER_SUCCESS : SOLVER_INVALID;
}
