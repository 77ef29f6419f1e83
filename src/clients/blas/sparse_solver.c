/*
 * sparse_solver.c: the drop-in libcusolver: solutions of sparse systems, by LAPACK's LU of the band
 * that the matrix has. A matrix without a narrow band takes as much memory and time as a dense one.
 */
#include "clients/blas/solver.h"

#include "clients/driver_calls.h"

#include <stdlib.h>

/* CSR, whose first offset is 0 or 1, as its indices begin. */
struct system {
    int n;
    const int *offsets, *columns;
    const char *values;
    const void *right;
    double tolerance;
    void *solution;
    int *singular; /* the first line without a pivot, or -1 */
    bool lower;    /* of a symmetric matrix, only its lower half counts */
};

/* How far the entries are from the diagonal; false if one is outside the matrix. */
static bool find_band(const struct system *s, int *below, int *above)
{
    int base = s->offsets[0];
    *below = *above = 0;
    for (int row = 0; row < s->n; row++) {
        for (int k = s->offsets[row] - base; k < s->offsets[row + 1] - base; k++) {
            int column = s->columns[k] - base, by = row - column;
            if (column < 0 || column >= s->n)
                return false;
            if (by > *below)
                *below = by;
            if (-by > *above && !s->lower)
                *above = -by;
        }
    }
    if (s->lower)
        *above = *below;
    return true;
}

/* LAPACK's band storage: a(i, j) at [j][below + above + i - j]. */
static void fill_band(const struct solve *type, const struct system *s, char *band, int below,
                      int above)
{
    size_t size = element(type), ld = 2 * (size_t)below + (size_t)above + 1;
    int base = s->offsets[0], diagonal = below + above;
    for (int row = 0; row < s->n; row++) {
        for (int k = s->offsets[row] - base; k < s->offsets[row + 1] - base; k++) {
            int column = s->columns[k] - base;
            const char *value = s->values + (size_t)k * size;
            if (s->lower && column > row)
                continue;
            char *at = band + ((size_t)column * ld + (size_t)(diagonal + row - column)) * size;
            memcpy(at, value, size);
            if (!s->lower || row == column)
                continue;
            at = band + ((size_t)row * ld + (size_t)(diagonal + column - row)) * size;
            memcpy(at, value, size);
            if (is_complex(type)) /* the other half is conjugated: the sign of its second part */
                at[size - 1] = (char)(at[size - 1] ^ 0x80);
        }
    }
}

static double magnitude(const struct solve *type, const char *at)
{
    double sum = 0;
    for (size_t part = 0; part < (is_complex(type) ? 2 : 1); part++) {
        double value = real(type) == 4 ? (double)((const float *)(const void *)at)[part]
                                       : ((const double *)(const void *)at)[part];
        sum += value < 0 ? -value : value;
    }
    return sum;
}

static int solve_band(const struct solve *type, const struct system *s)
{
    typedef void gbsv(const int *, const int *, const int *, const int *, void *, const int *,
                      int *, void *, const int *, int *);
    gbsv *function = (gbsv *)lapack(type, "gbsv_");
    int below, above, one = 1, info = 0;
    if (!function)
        return SOLVER_NOT_INITIALIZED;
    if (!find_band(s, &below, &above))
        return SOLVER_INVALID;
    int ld = 2 * below + above + 1;
    char *band = calloc((size_t)s->n * (size_t)ld, element(type));
    int *pivots = calloc((size_t)s->n, sizeof *pivots);
    if (band && pivots) {
        fill_band(type, s, band, below, above);
        memcpy(s->solution, s->right, (size_t)s->n * element(type));
        function(&s->n, &below, &above, &one, band, &ld, pivots, s->solution, &s->n, &info);
        *s->singular = info > 0 ? info - 1 : -1;
        for (int i = 0; i < s->n && *s->singular < 0; i++)
            if (magnitude(type, band + ((size_t)i * (size_t)ld + (size_t)(below + above)) *
                                           element(type)) <= s->tolerance)
                *s->singular = i;
    } else {
        lk_library_fail("the band of this sparse system does not fit the memory of the host");
    }
    free(pivots);
    free(band);
    return band && pivots ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

struct call {
    struct solve type;
    struct system system;
    int count;
    int *status;
};

static void run_system(void *data)
{
    struct call *call = data;
    struct system s = call->system;
    size_t n = (size_t)s.n, size = element(&call->type);
    s.offsets = lk_library_bytes(s.offsets, (n + 1) * sizeof *s.offsets);
    s.columns = lk_library_bytes(s.columns, (size_t)call->count * sizeof *s.columns);
    s.values = lk_library_bytes(s.values, (size_t)call->count * size);
    s.right = lk_library_bytes(s.right, n * size);
    s.solution = vector(s.solution, n * size);
    if (!s.offsets || !s.columns || !s.values || !s.right || !s.solution)
        return;
    *call->status = SOLVER_INVALID;
    for (int row = 0; row < s.n; row++)
        if (s.offsets[row + 1] < s.offsets[row])
            return;
    if (s.offsets[s.n] - s.offsets[0] <= call->count)
        *call->status = solve_band(&call->type, &s);
}

/* These calls return when they are done: the first line without a pivot is on the host. */
static int solve_system(handle_t handle, const char *name, char letter, struct system system,
                        int count)
{
    int status = SOLVER_EXECUTION_FAILED;
    if (system.n <= 0 || count < 0)
        return SOLVER_INVALID;
    struct call call = {
        {.letter = letter, .n = system.n, .a = (void *)system.values, .infos = system.singular},
        system,
        count,
        &status};
    int put = solver_put_call(handle, name, run_system, &call.type, &call, sizeof call);
    if (put != SOLVER_SUCCESS)
        return put;
    return cuStreamSynchronize(handle->stream) == CUDA_SUCCESS ? status : SOLVER_EXECUTION_FAILED;
}

#define SOLVE(name, x, real, half)                                                                 \
    API(name, handle_t h, int n, int count, void *description, void *values, int *offsets,         \
        int *columns, void *right, real tolerance, int order, void *solution, int *singular)       \
    {                                                                                              \
        (void)description, (void)order;                                                            \
        return solve_system(h, #name, x,                                                           \
                            (struct system){n, offsets, columns, values, right, (double)tolerance, \
                                            solution, singular, half},                             \
                            count);                                                                \
    }
#define ALL(X, x, real)                                                                            \
    SOLVE(cusolverSp##X##csrlsvqr, x, real, false)                                                 \
    SOLVE(cusolverSp##X##csrlsvqrHost, x, real, false)                                             \
    SOLVE(cusolverSp##X##csrlsvluHost, x, real, false)                                             \
    SOLVE(cusolverSp##X##csrlsvchol, x, real, true)                                                \
    SOLVE(cusolverSp##X##csrlsvcholHost, x, real, true)
ALL(S, 's', float)
ALL(D, 'd', double)
ALL(C, 'c', float)
ALL(Z, 'z', double)

API(cusolverSpCreate, handle_t *handle)
{
    return cusolverDnCreate(handle);
}

API(cusolverSpDestroy, handle_t handle)
{
    return cusolverDnDestroy(handle);
}

API(cusolverSpSetStream, handle_t handle, CUstream stream)
{
    return cusolverDnSetStream(handle, stream);
}

API(cusolverSpGetStream, handle_t handle, CUstream *stream)
{
    return cusolverDnGetStream(handle, stream);
}
