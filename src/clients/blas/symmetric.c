/*
 * symmetric.c: the drop-in libcusolver: eigenvalues in a range, and of pairs of symmetric or
 * Hermitian matrices; inverses from Cholesky's factors. By LAPACK's syev, sygv and potri.
 */
#include "clients/blas/solver.h"

#include "clients/driver_calls.h"

#include <stdlib.h>

enum { RANGE_ALL = 1001, RANGE_INDEX = 1002, RANGE_VALUE = 1003 };

/* a, b: the matrices, or only a; values: eigenvalues. */
struct spectrum {
    struct solve s;
    int problem; /* of a pair: a x = l b x, a b x = l x, b a x = l x; 0: of one */
    int range;
    double low, high;
    int64_t first, last; /* from 1 */
    int64_t *found;      /* on the host */
};

static void sygv(const struct spectrum *call, void *a, void *b, void *values, int *info)
{
    typedef void of_reals(const int *, const char *, const char *, const int *, void *, const int *,
                          void *, const int *, void *, void *, const int *, int *);
    typedef void of_complex(const int *, const char *, const char *, const int *, void *,
                            const int *, void *, const int *, void *, void *, const int *, void *,
                            int *);
    const struct solve *s = &call->s;
    void *function = lapack(s, is_complex(s) ? "hegv_" : "sygv_");
    int size = -1;
    double answer[2] = {0};
    void *work = answer, *reals = malloc(3 * (size_t)(s->n + 1) * sizeof(double));
    for (int turn = 0; function && reals && work && turn < 2; turn++) {
        if (is_complex(s))
            ((of_complex *)function)(&call->problem, &s->first, &s->second, &s->n, a, &s->lda, b,
                                     &s->ldb, values, work, &size, reals, info);
        else
            ((of_reals *)function)(&call->problem, &s->first, &s->second, &s->n, a, &s->lda, b,
                                   &s->ldb, values, work, &size, info);
        if (turn == 0) {
            size = asked(s, answer);
            work = malloc((size_t)size * element(s));
        }
    }
    if (work != answer)
        free(work);
    free(reals);
}

static double value_at(const struct solve *s, const char *values, int64_t i)
{
    return real(s) == 4 ? (double)((const float *)(const void *)values)[i]
                        : ((const double *)(const void *)values)[i];
}

/* Those that were asked for go first; values are in ascending order. */
static void select_range(const struct spectrum *call, char *a, char *values)
{
    const struct solve *s = &call->s;
    int64_t from = 0, to = s->n;
    size_t column = (size_t)s->lda * element(s), rows = (size_t)s->n * element(s);
    if (call->range == RANGE_INDEX) {
        from = call->first - 1;
        to = call->last;
    }
    if (call->range == RANGE_VALUE) {
        while (from < to && value_at(s, values, from) <= call->low)
            from++;
        while (to > from && value_at(s, values, to - 1) > call->high)
            to--;
    }
    memmove(values, values + (size_t)from * real(s), (size_t)(to - from) * real(s));
    for (int64_t j = from; j < to && from && s->first == 'V'; j++)
        memmove(a + (size_t)(j - from) * column, a + (size_t)j * column, rows);
    *call->found = to - from;
}

static void run_spectrum(void *data)
{
    const struct spectrum *call = data;
    const struct solve *s = &call->s;
    void *a = matrix(s, s->a, s->n, s->n, s->lda, true);
    void *b = call->problem ? matrix(s, s->b, s->n, s->n, s->ldb, true) : a;
    void *values = vector(s->values, real(s) * (size_t)s->n);
    int *info = vector(s->infos, sizeof *info);
    if (!a || !b || !values || !info)
        return;
    if (call->problem) {
        sygv(call, a, b, values, info);
    } else { /* which has the triangle as its second letter, too */
        solver_syevd(s, a, values, info);
    }
    if (call->found && *info == 0)
        select_range(call, a, values);
}

static int put_spectrum(handle_t handle, const char *name, struct spectrum call)
{
    int64_t found = 0, *count = call.found;
    const struct solve *s = &call.s;
    bool by_index = call.range == RANGE_INDEX, by_value = call.range == RANGE_VALUE;
    if (call.problem < 0 || call.problem > 3 || s->n < 0 || s->lda < (s->n ? s->n : 1) ||
        (call.problem && (!s->b || s->ldb < (s->n ? s->n : 1))) ||
        (by_index && (call.first < 1 || call.last < call.first || call.last > s->n)) ||
        (by_value && !(call.low < call.high)) ||
        (call.range && !by_index && !by_value && call.range != RANGE_ALL))
        return SOLVER_INVALID;
    call.found = call.range ? &found : NULL;
    int status = solver_put_call(handle, name, run_spectrum, s, &call, sizeof call);
    if (status != SOLVER_SUCCESS || !call.range)
        return status;
    if (cuStreamSynchronize(handle->stream) != CUDA_SUCCESS) /* the count is on the host */
        return SOLVER_EXECUTION_FAILED;
    if (count)
        *count = found;
    return SOLVER_SUCCESS;
}

/* The same with a count of 32 bits. */
static int put_narrow(handle_t handle, const char *name, struct spectrum call, int *count)
{
    int64_t wide = 0;
    call.found = &wide;
    int status = put_spectrum(handle, name, call);
    if (status == SOLVER_SUCCESS && count)
        *count = (int)wide;
    return status;
}

#define SPECTRUM(x, job, fill, size, matrix_a, ld, eigenvalues, info_out)                          \
    .s = {.letter = (x),                                                                           \
          .first = (job) ? 'V' : 'N',                                                              \
          .second = FILL(fill),                                                                    \
          .n = (size),                                                                             \
          .a = (matrix_a),                                                                         \
          .lda = (ld),                                                                             \
          .values = (eigenvalues),                                                                 \
          .infos = (info_out)}

#define SIZE_OF(name, ...)                                                                         \
    API(name##_bufferSize, handle_t h, __VA_ARGS__, int *size)                                     \
    {                                                                                              \
        (void)h;                                                                                   \
        return *size = 1, SOLVER_SUCCESS;                                                          \
    }
#define UNUSED __attribute__((unused))

#define RANGES(X, x, real, sy)                                                                     \
    SIZE_OF(cusolverDn##X##sy##evdx, UNUSED int job, UNUSED int range, UNUSED int fill,            \
            UNUSED int n, UNUSED void *a, UNUSED int lda, UNUSED real low, UNUSED real high,       \
            UNUSED int first, UNUSED int last, UNUSED int *found, UNUSED void *values)             \
    API(cusolverDn##X##sy##evdx, handle_t h, int job, int range, int fill, int n, void *a,         \
        int lda, real low, real high, int first, int last, int *found, void *values, void *work,   \
        int size, int *info)                                                                       \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return put_narrow(h, "cusolverDn" #X #sy "evdx",                                           \
                          (struct spectrum){SPECTRUM(x, job, fill, n, a, lda, values, info),       \
                                            .range = range, .low = (double)low,                    \
                                            .high = (double)high, .first = first, .last = last},   \
                          found);                                                                  \
    }                                                                                              \
    SIZE_OF(cusolverDn##X##sy##gvdx, UNUSED int problem, UNUSED int job, UNUSED int range,         \
            UNUSED int fill, UNUSED int n, UNUSED void *a, UNUSED int lda, UNUSED void *b,         \
            UNUSED int ldb, UNUSED real low, UNUSED real high, UNUSED int first, UNUSED int last,  \
            UNUSED int *found, UNUSED void *values)                                                \
    API(cusolverDn##X##sy##gvdx, handle_t h, int problem, int job, int range, int fill, int n,     \
        void *a, int lda, void *b, int ldb, real low, real high, int first, int last, int *found,  \
        void *values, void *work, int size, int *info)                                             \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        struct spectrum call = {SPECTRUM(x, job, fill, n, a, lda, values, info),                   \
                                .problem = problem,                                                \
                                .range = range,                                                    \
                                .low = (double)low,                                                \
                                .high = (double)high,                                              \
                                .first = first,                                                    \
                                .last = last};                                                     \
        call.s.b = b;                                                                              \
        call.s.ldb = ldb;                                                                          \
        return problem ? put_narrow(h, "cusolverDn" #X #sy "gvdx", call, found) : SOLVER_INVALID;  \
    }

#define PAIRS(X, x, sy)                                                                            \
    SIZE_OF(cusolverDn##X##sy##gvd, UNUSED int problem, UNUSED int job, UNUSED int fill,           \
            UNUSED int n, UNUSED void *a, UNUSED int lda, UNUSED void *b, UNUSED int ldb,          \
            UNUSED void *values)                                                                   \
    API(cusolverDn##X##sy##gvd, handle_t h, int problem, int job, int fill, int n, void *a,        \
        int lda, void *b, int ldb, void *values, void *work, int size, int *info)                  \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        struct spectrum call = {SPECTRUM(x, job, fill, n, a, lda, values, info),                   \
                                .problem = problem};                                               \
        call.s.b = b;                                                                              \
        call.s.ldb = ldb;                                                                          \
        return problem ? put_spectrum(h, "cusolverDn" #X #sy "gvd", call) : SOLVER_INVALID;        \
    }                                                                                              \
    API(cusolverDn##X##sy##gvj_bufferSize, handle_t h, int problem, int job, int fill, int n,      \
        void *a, int lda, void *b, int ldb, void *values, int *size, void *params)                 \
    {                                                                                              \
        (void)params;                                                                              \
        return cusolverDn##X##sy##gvd_bufferSize(h, problem, job, fill, n, a, lda, b, ldb, values, \
                                                 size);                                            \
    }                                                                                              \
    API(cusolverDn##X##sy##gvj, handle_t h, int problem, int job, int fill, int n, void *a,        \
        int lda, void *b, int ldb, void *values, void *work, int size, int *info, void *params)    \
    {                                                                                              \
        (void)params; /* LAPACK's method, not Jacobi's */                                          \
        return cusolverDn##X##sy##gvd(h, problem, job, fill, n, a, lda, b, ldb, values, work,      \
                                      size, info);                                                 \
    }

static void run_potri(void *data)
{
    const struct solve *s = data;
    typedef void potri(const char *, const int *, void *, const int *, int *);
    potri *function = (potri *)lapack(s, "potri_");
    void *a = matrix(s, s->a, s->n, s->n, s->lda, true);
    int *info = vector(s->infos, sizeof *info);
    if (function && a && info)
        function(&s->first, &s->n, a, &s->lda, info);
}

#define INVERSE(X, x)                                                                              \
    SIZE_OF(cusolverDn##X##potri, UNUSED int fill, UNUSED int n, UNUSED void *a, UNUSED int lda)   \
    API(cusolverDn##X##potri, handle_t h, int fill, int n, void *a, int lda, void *work, int size, \
        int *info)                                                                                 \
    {                                                                                              \
        (void)work, (void)size;                                                                    \
        return solver_put(                                                                         \
            h, "cusolverDn" #X "potri", run_potri,                                                 \
            (struct solve){x, FILL(fill), .n = n, .a = a, .lda = lda, .infos = info});             \
    }

#define ALL(X, x, real, sy)                                                                        \
    RANGES(X, x, real, sy)                                                                         \
    PAIRS(X, x, sy)                                                                                \
    INVERSE(X, x)
ALL(S, 's', float, sy)
ALL(D, 'd', double, sy)
ALL(C, 'c', float, he)
ALL(Z, 'z', double, he)

API(cusolverDnXsyevdx_bufferSize, handle_t h, void *params, int job, int range, int fill, int64_t n,
    int type, const void *a, int64_t lda, void *low, void *high, int64_t first, int64_t last,
    int64_t *found, int values_type, const void *values, int compute, size_t *device, size_t *host)
{
    (void)h, (void)params, (void)job, (void)range, (void)fill, (void)n, (void)type, (void)a;
    (void)lda, (void)low, (void)high, (void)first, (void)last, (void)found, (void)values_type;
    (void)values, (void)compute;
    if (!device || !host)
        return SOLVER_INVALID;
    *device = *host = 16;
    return SOLVER_SUCCESS;
}

API(cusolverDnXsyevdx, handle_t h, void *params, int job, int range, int fill, int64_t n, int type,
    void *a, int64_t lda, void *low, void *high, int64_t first, int64_t last, int64_t *found,
    int values_type, void *values, int compute, void *device, size_t device_size, void *host,
    size_t host_size, int *info)
{
    (void)params, (void)values_type, (void)compute, (void)device, (void)device_size, (void)host;
    (void)host_size;
    if (!solver_letter(type) || n < 0 || n > INT32_MAX || lda < 0 || lda > INT32_MAX || !range)
        return SOLVER_INVALID;
    struct spectrum call = {
        SPECTRUM(solver_letter(type), job, fill, (int)n, a, (int)lda, values, info), .range = range,
        .first = first, .last = last, .found = found};
    if (range == RANGE_VALUE) {
        if (!low || !high)
            return SOLVER_INVALID;
        call.low = value_at(&call.s, low, 0);
        call.high = value_at(&call.s, high, 0);
    }
    return put_spectrum(h, "cusolverDnXsyevdx", call);
}
