/*
 * eigen.c: the drop-in libcusolver: eigenvalues and eigenvectors of general matrices, by LAPACK's
 * geev.
 */
#include "clients/blas/solver.h"

#include <stdlib.h>

struct geev {
    struct solve s; /* a: the matrix; b, c: left and right eigenvectors; values: eigenvalues */
    bool pairs;     /* eigenvalues of a real matrix as complex numbers; else real parts come first,
                       then imaginary ones */
};

/* values: as LAPACK has them; imaginary: of real matrices. */
static void geev(const struct solve *s, void *a, void *left, void *right, void *values,
                 void *imaginary, int *info)
{
    typedef void of_reals(const char *, const char *, const int *, void *, const int *, void *,
                          void *, void *, const int *, void *, const int *, void *, const int *,
                          int *);
    typedef void of_complex(const char *, const char *, const int *, void *, const int *, void *,
                            void *, const int *, void *, const int *, void *, const int *, void *,
                            int *);
    void *function = lapack(s, "geev_");
    double answer[2] = {0};
    void *work = answer, *reals = calloc((size_t)s->n + 1, 2 * sizeof(double));
    for (int turn = 0, size = -1; function && reals && work && turn < 2; turn++) {
        if (is_complex(s))
            ((of_complex *)function)(&s->first, &s->second, &s->n, a, &s->lda, values, left,
                                     &s->ldb, right, &s->ldc, work, &size, reals, info);
        else
            ((of_reals *)function)(&s->first, &s->second, &s->n, a, &s->lda, values, imaginary,
                                   left, &s->ldb, right, &s->ldc, work, &size, info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (!function || !reals || !work)
        lk_library_fail("there is not enough memory for eigenvalues");
    if (work != answer)
        free(work);
    free(reals);
}

/* A real matrix's eigenvalues, in the order that the caller wants. */
static void write_values(const struct geev *call, const char *parts, char *values)
{
    size_t n = (size_t)call->s.n, size = element(&call->s);
    for (size_t i = 0; i < n; i++)
        for (size_t part = 0; part < 2; part++)
            memcpy(values + (call->pairs ? 2 * i + part : part * n + i) * size,
                   parts + (part * n + i) * size, size);
}

static void run_geev(void *data)
{
    struct geev *call = data;
    struct solve *s = &call->s;
    size_t n = (size_t)s->n, size = element(s);
    void *a = matrix(s, s->a, s->n, s->n, s->lda, true);
    void *left = s->first == 'V' ? matrix(s, s->b, s->n, s->n, s->ldb, true) : s;
    void *right = s->second == 'V' ? matrix(s, s->c, s->n, s->n, s->ldc, true) : s;
    void *values = vector(s->values, n * size * (is_complex(s) ? 1 : 2));
    int *info = vector(s->infos, sizeof *info);
    char *parts = calloc(2 * n + 1, size);
    if (a && left && right && values && info && parts) {
        geev(s, a, left, right, is_complex(s) ? values : parts, parts + n * size, info);
        if (!is_complex(s))
            write_values(call, parts, values);
    }
    free(parts);
}

API(cusolverDnXgeev_bufferSize, handle_t h, void *params, int left, int right, int64_t n, int type,
    void *a, int64_t lda, int values_type, void *values, int left_type, void *vl, int64_t ldvl,
    int right_type, void *vr, int64_t ldvr, int compute, size_t *device, size_t *host)
{
    (void)h, (void)params, (void)left, (void)right, (void)n, (void)type, (void)a, (void)lda;
    (void)values_type, (void)values, (void)left_type, (void)vl, (void)ldvl, (void)right_type;
    (void)vr, (void)ldvr, (void)compute;
    *device = *host = 16;
    return SOLVER_SUCCESS;
}

API(cusolverDnXgeev, handle_t h, void *params, int left, int right, int64_t n, int type, void *a,
    int64_t lda, int values_type, void *values, int left_type, void *vl, int64_t ldvl,
    int right_type, void *vr, int64_t ldvr, int compute, void *device, size_t device_size,
    void *host, size_t host_size, int *info)
{
    (void)params, (void)left_type, (void)right_type, (void)compute;
    (void)device, (void)device_size, (void)host, (void)host_size;
    char letter = solver_letter(type);
    if (!letter || n > INT32_MAX || lda > INT32_MAX || ldvl > INT32_MAX || ldvr > INT32_MAX)
        return SOLVER_INVALID;
    struct geev call = {{letter, left ? 'V' : 'N', right ? 'V' : 'N', .n = (int)n, .a = a,
                         .lda = (int)lda, .b = vl, .ldb = left ? (int)ldvl : 1, .c = vr,
                         .ldc = right ? (int)ldvr : 1, .values = values, .infos = info},
                        .pairs = values_type != type};
    return solver_put_call(h, "cusolverDnXgeev", run_geev, &call.s, &call, sizeof call);
}
