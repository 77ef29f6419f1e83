/*
 * legacy.c: cuBLAS as it was before CUDA 4 (cublas.h): no handle, factors by value, transposes as
 * letters, results returned, errors kept for cublasGetError. Each call becomes one of today's.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

#include <complex.h>
#include <stdlib.h>

#define DEFINE(type, symbol, parameters)                                                           \
    EXPORT type symbol parameters;                                                                 \
    EXPORT type symbol parameters

static struct blas_handle handle;
static enum blas_status failed; /* the latest failure; cublasGetError clears it */

static void note(enum blas_status status)
{
    if (status != BLAS_SUCCESS)
        failed = status;
}

DEFINE(enum blas_status, cublasInit, (void))
{
    return lk_library_context() == CUDA_SUCCESS ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

DEFINE(enum blas_status, cublasShutdown, (void))
{
    return BLAS_SUCCESS;
}

DEFINE(enum blas_status, cublasGetError, (void))
{
    enum blas_status status = failed;
    failed = BLAS_SUCCESS;
    return status;
}

DEFINE(enum blas_status, cublasSetKernelStream, (CUstream stream))
{
    handle.stream = stream;
    return BLAS_SUCCESS;
}

DEFINE(enum blas_status, cublasAlloc, (int count, int size, void **pointer))
{
    CUdeviceptr address = 0;
    if (count <= 0 || size <= 0 || !pointer)
        return BLAS_INVALID_VALUE;
    if (lk_library_context() != CUDA_SUCCESS ||
        cuMemAlloc_v2(&address, (size_t)count * (size_t)size) != CUDA_SUCCESS)
        return BLAS_ALLOC_FAILED;
    *pointer = (void *)(uintptr_t)address;
    return BLAS_SUCCESS;
}

DEFINE(enum blas_status, cublasFree, (void *pointer))
{
    return !pointer || cuMemFree_v2((CUdeviceptr)(uintptr_t)pointer) == CUDA_SUCCESS
               ? BLAS_SUCCESS
               : BLAS_EXECUTION_FAILED;
}

/* Today's calls -------------------------------------------------------------------------------- */

/* What an enumeration counts for a letter: 'N' or 'L' is 0. Others are no value: the call refuses.
 */
static int operation(char letter)
{
    return letter == 'N' || letter == 'n'   ? 0
           : letter == 'T' || letter == 't' ? 1
           : letter == 'C' || letter == 'c' ? 2
                                            : 9;
}

static int second(char letter, char first_letter, char second_letter)
{
    int upper = letter & ~0x20;
    return upper == first_letter ? 0 : upper == second_letter ? 1 : 9;
}
#define FILL(letter) second(letter, 'L', 'U')
#define UNIT(letter) second(letter, 'N', 'U')
#define SIDE(letter) second(letter, 'L', 'R')

/* A letter that is none of an enumeration's fails before the call. */
#define CALL(symbol, checks, ...)                                                                  \
    do {                                                                                           \
        note((checks) < 9 ? symbol(&handle, __VA_ARGS__) : BLAS_INVALID_VALUE);                    \
    } while (0)
#define TODAY(symbol, ...) extern enum blas_status symbol(const struct blas_handle *, __VA_ARGS__);

/* Level 3 -------------------------------------------------------------------------------------- */

#define LEVEL3(X, T)                                                                               \
    TODAY(cublas##X##gemm_v2, int, int, int, int, int, const void *, const void *, int,            \
          const void *, int, const void *, void *, int)                                            \
    DEFINE(void, cublas##X##gemm,                                                                  \
           (char ta, char tb, int m, int n, int k, T alpha, const void *a, int lda, const void *b, \
            int ldb, T beta, void *c, int ldc))                                                    \
    {                                                                                              \
        CALL(cublas##X##gemm_v2, operation(ta) | operation(tb), operation(ta), operation(tb), m,   \
             n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);                                         \
    }                                                                                              \
    TODAY(cublas##X##symm_v2, int, int, int, int, const void *, const void *, int, const void *,   \
          int, const void *, void *, int)                                                          \
    DEFINE(void, cublas##X##symm,                                                                  \
           (char side, char fill, int m, int n, T alpha, const void *a, int lda, const void *b,    \
            int ldb, T beta, void *c, int ldc))                                                    \
    {                                                                                              \
        CALL(cublas##X##symm_v2, SIDE(side) | FILL(fill), SIDE(side), FILL(fill), m, n, &alpha, a, \
             lda, b, ldb, &beta, c, ldc);                                                          \
    }                                                                                              \
    TODAY(cublas##X##syrk_v2, int, int, int, int, const void *, const void *, int, const void *,   \
          void *, int)                                                                             \
    DEFINE(void, cublas##X##syrk,                                                                  \
           (char fill, char ta, int n, int k, T alpha, const void *a, int lda, T beta, void *c,    \
            int ldc))                                                                              \
    {                                                                                              \
        CALL(cublas##X##syrk_v2, FILL(fill) | operation(ta), FILL(fill), operation(ta), n, k,      \
             &alpha, a, lda, &beta, c, ldc);                                                       \
    }                                                                                              \
    TODAY(cublas##X##trsm_v2, int, int, int, int, int, int, const void *, const void *, int,       \
          void *, int)                                                                             \
    DEFINE(void, cublas##X##trsm,                                                                  \
           (char side, char fill, char ta, char unit, int m, int n, T alpha, const void *a,        \
            int lda, void *b, int ldb))                                                            \
    {                                                                                              \
        CALL(cublas##X##trsm_v2, SIDE(side) | FILL(fill) | operation(ta) | UNIT(unit), SIDE(side), \
             FILL(fill), operation(ta), UNIT(unit), m, n, &alpha, a, lda, b, ldb);                 \
    }                                                                                              \
    TODAY(cublas##X##trmm_v2, int, int, int, int, int, int, const void *, const void *, int,       \
          const void *, int, void *, int)                                                          \
    DEFINE(void, cublas##X##trmm,                                                                  \
           (char side, char fill, char ta, char unit, int m, int n, T alpha, const void *a,        \
            int lda, void *b, int ldb))                                                            \
    {                                                                                              \
        CALL(cublas##X##trmm_v2, SIDE(side) | FILL(fill) | operation(ta) | UNIT(unit), SIDE(side), \
             FILL(fill), operation(ta), UNIT(unit), m, n, &alpha, a, lda, b, ldb, b, ldb);         \
    }
LEVEL3(S, float)
LEVEL3(D, double)
LEVEL3(C, float complex)
LEVEL3(Z, double complex)

/* Levels 2 and 1 ------------------------------------------------------------------------------- */

#define LEVEL2(X, T)                                                                               \
    TODAY(cublas##X##gemv_v2, int, int, int, const void *, const void *, int, const void *, int,   \
          const void *, void *, int)                                                               \
    DEFINE(void, cublas##X##gemv,                                                                  \
           (char ta, int m, int n, T alpha, const void *a, int lda, const void *x, int inc_x,      \
            T beta, void *y, int inc_y))                                                           \
    {                                                                                              \
        CALL(cublas##X##gemv_v2, operation(ta), operation(ta), m, n, &alpha, a, lda, x, inc_x,     \
             &beta, y, inc_y);                                                                     \
    }                                                                                              \
    TODAY(cublas##X##trsv_v2, int, int, int, int, const void *, int, void *, int)                  \
    DEFINE(void, cublas##X##trsv,                                                                  \
           (char fill, char ta, char unit, int n, const void *a, int lda, void *x, int inc_x))     \
    {                                                                                              \
        CALL(cublas##X##trsv_v2, FILL(fill) | operation(ta) | UNIT(unit), FILL(fill),              \
             operation(ta), UNIT(unit), n, a, lda, x, inc_x);                                      \
    }
LEVEL2(S, float)
LEVEL2(D, double)
LEVEL2(C, float complex)
LEVEL2(Z, double complex)

#define REAL2(X, T)                                                                                \
    TODAY(cublas##X##ger_v2, int, int, const void *, const void *, int, const void *, int, void *, \
          int)                                                                                     \
    DEFINE(void, cublas##X##ger,                                                                   \
           (int m, int n, T alpha, const void *x, int inc_x, const void *y, int inc_y, void *a,    \
            int lda))                                                                              \
    {                                                                                              \
        CALL(cublas##X##ger_v2, 0, m, n, &alpha, x, inc_x, y, inc_y, a, lda);                      \
    }                                                                                              \
    TODAY(cublas##X##symv_v2, int, int, const void *, const void *, int, const void *, int,        \
          const void *, void *, int)                                                               \
    DEFINE(void, cublas##X##symv,                                                                  \
           (char fill, int n, T alpha, const void *a, int lda, const void *x, int inc_x, T beta,   \
            void *y, int inc_y))                                                                   \
    {                                                                                              \
        CALL(cublas##X##symv_v2, FILL(fill), FILL(fill), n, &alpha, a, lda, x, inc_x, &beta, y,    \
             inc_y);                                                                               \
    }
REAL2(S, float)
REAL2(D, double)

#define LEVEL1(X, T)                                                                               \
    TODAY(cublas##X##axpy_v2, int, const void *, const void *, int, void *, int)                   \
    DEFINE(void, cublas##X##axpy, (int n, T alpha, const void *x, int inc_x, void *y, int inc_y))  \
    {                                                                                              \
        CALL(cublas##X##axpy_v2, 0, n, &alpha, x, inc_x, y, inc_y);                                \
    }                                                                                              \
    TODAY(cublas##X##scal_v2, int, const void *, void *, int)                                      \
    DEFINE(void, cublas##X##scal, (int n, T alpha, void *x, int inc_x))                            \
    {                                                                                              \
        CALL(cublas##X##scal_v2, 0, n, &alpha, x, inc_x);                                          \
    }                                                                                              \
    TODAY(cublas##X##copy_v2, int, const void *, int, void *, int)                                 \
    DEFINE(void, cublas##X##copy, (int n, const void *x, int inc_x, void *y, int inc_y))           \
    {                                                                                              \
        CALL(cublas##X##copy_v2, 0, n, x, inc_x, y, inc_y);                                        \
    }                                                                                              \
    TODAY(cublas##X##swap_v2, int, void *, int, void *, int)                                       \
    DEFINE(void, cublas##X##swap, (int n, void *x, int inc_x, void *y, int inc_y))                 \
    {                                                                                              \
        CALL(cublas##X##swap_v2, 0, n, x, inc_x, y, inc_y);                                        \
    }
LEVEL1(S, float)
LEVEL1(D, double)
LEVEL1(C, float complex)
LEVEL1(Z, double complex)

#define DOT(name, T)                                                                               \
    TODAY(cublas##name##_v2, int, const void *, int, const void *, int, void *)                    \
    DEFINE(T, cublas##name, (int n, const void *x, int inc_x, const void *y, int inc_y))           \
    {                                                                                              \
        T result = 0;                                                                              \
        CALL(cublas##name##_v2, 0, n, x, inc_x, y, inc_y, &result);                                \
        return result;                                                                             \
    }
DOT(Sdot, float)
DOT(Ddot, double)
DOT(Cdotu, float complex)
DOT(Cdotc, float complex)
DOT(Zdotu, double complex)
DOT(Zdotc, double complex)

#define ONE(name, T)                                                                               \
    TODAY(cublas##name##_v2, int, const void *, int, void *)                                       \
    DEFINE(T, cublas##name, (int n, const void *x, int inc_x))                                     \
    {                                                                                              \
        T result = 0;                                                                              \
        CALL(cublas##name##_v2, 0, n, x, inc_x, &result);                                          \
        return result;                                                                             \
    }
ONE(Snrm2, float)
ONE(Dnrm2, double)
ONE(Scnrm2, float)
ONE(Dznrm2, double)
ONE(Sasum, float)
ONE(Dasum, double)
ONE(Scasum, float)
ONE(Dzasum, double)
ONE(Isamax, int)
ONE(Idamax, int)
ONE(Icamax, int)
ONE(Izamax, int)
ONE(Isamin, int)
ONE(Idamin, int)
ONE(Icamin, int)
ONE(Izamin, int)
