/*
 * openblas.h: cblas_sgemm of OpenBLAS, opened at run time, for variants of the CPU. Host code.
 */
#ifndef LOCKSTEP_KERNELS_OPENBLAS_H
#define LOCKSTEP_KERNELS_OPENBLAS_H

enum { CBLAS_ROWS = 101, CBLAS_AS_IS = 111, CBLAS_TRANSPOSED = 112 };

typedef void openblas_sgemm(int order, int of_a, int of_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);

/* NULL where the library is not installed. */
openblas_sgemm *openblas_find_sgemm(void);

#endif
