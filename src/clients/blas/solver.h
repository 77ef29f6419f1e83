/*
 * solver.h: the drop-in libcusolver: what its files share. A call of it is a `struct solve`, which
 * runs in the stream by one of the functions that solver_put is given.
 */
#ifndef LOCKSTEP_CLIENTS_BLAS_SOLVER_H
#define LOCKSTEP_CLIENTS_BLAS_SOLVER_H

#include "clients/blas/blas.h"

#include <string.h>

#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

typedef struct blas_handle *handle_t;

enum {
    SOLVER_SUCCESS = 0,
    SOLVER_NOT_INITIALIZED = 1,
    SOLVER_ALLOC_FAILED = 2,
    SOLVER_INVALID = 3,
    SOLVER_EXECUTION_FAILED = 6
};

/* One call; each kind reads what it needs. */
struct solve {
    char letter;        /* s d c z */
    char first, second; /* LAPACK's letters */
    int m, n, k, lda, ldb, ldc, count;
    void *a, *b, *c, *values; /* values: real numbers, or the factors of reflections */
    int *pivots, *infos;
};

static inline size_t element(const struct solve *s)
{
    return s->letter == 's' ? 4 : s->letter == 'z' ? 16 : 8;
}

static inline size_t real(const struct solve *s)
{
    return s->letter == 's' || s->letter == 'c' ? 4 : 8;
}

static inline bool is_complex(const struct solve *s)
{
    return s->letter == 'c' || s->letter == 'z';
}

static inline void *lapack(const struct solve *s, const char *name)
{
    char full[16] = {s->letter};
    strncat(full, name, sizeof full - 2);
    return blas_function(full);
}

static inline size_t bytes_of(const struct solve *s, int rows, int columns, int ld)
{
    return rows > 0 && columns > 0
               ? ((size_t)(columns - 1) * (size_t)ld + (size_t)rows) * element(s)
               : 0;
}

/* A matrix as the host finds it; marked as written. */
static inline void *matrix(const struct solve *s, void *at, int rows, int columns, int ld,
                           bool written)
{
    size_t size = bytes_of(s, rows, columns, ld);
    void *bytes = lk_library_bytes(at, size);
    if (bytes && written)
        lk_library_wrote(at, size);
    return bytes;
}

static inline void *vector(void *at, size_t size)
{
    void *bytes = lk_library_bytes(at, size);
    if (bytes)
        lk_library_wrote(at, size);
    return bytes;
}

/* LAPACK's answer to a question for its work area: the first number of it. */
static inline int asked(const struct solve *s, const void *answer)
{
    return (int)(real(s) == 4 ? (double)*(const float *)answer : *(const double *)answer) + 1;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* cuBLAS's enumerations */
#define FILL(mode) ((mode) ? 'U' : 'L')
#define TRANSPOSE(operation) ("NTC"[(operation) % 3])

EXPORT int cusolverDnCreate(handle_t *handle);
EXPORT int cusolverDnDestroy(handle_t handle);
EXPORT int cusolverDnSetStream(handle_t handle, CUstream stream);
EXPORT int cusolverDnGetStream(handle_t handle, CUstream *stream);

/* Puts the call into the handle's stream. */
int solver_put(handle_t handle, const char *name, void (*run)(void *), struct solve solve);
/* The same with what run is given, where that is more than the solve, which is counted. */
int solver_put_call(handle_t handle, const char *name, void (*run)(void *),
                    const struct solve *solve, const void *data, size_t size);
/* Functions for it; which members each reads is said there (solver.c). */
void solver_run_potrf(void *data);
void solver_run_potrs(void *data);
void solver_run_qr(void *data);
void solver_run_gesvd(void *data);
void solver_run_gesvdj(void *data);
/* LU without exchanges of rows, on the host's bytes; pivots that exchange none, to be freed. */
void solver_plain_lu(const struct solve *s, char *a, int *info);
int *solver_no_pivots(int n);
/* LAPACK's letter for CUDA's number of a type; 0 if it has none. */
char solver_letter(int type);

/* Singular values, on the host's bytes; v: as LAPACK has it, transposed. */
void solver_gesvd(const struct solve *s, void *a, void *values, void *u, int ldu, void *v, int ldv,
                  int *info);
/* Eigenvalues of a symmetric or Hermitian matrix. */
void solver_syevd(const struct solve *s, void *a, void *values, int *info);

#endif
