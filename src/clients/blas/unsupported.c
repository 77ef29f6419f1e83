/*
 * unsupported.c: the rest of cuBLAS's symbols, so that everything that links it starts: each prints
 * its name and fails.
 */
#include "clients/blas/blas.h"

#define NO(name)                                                                                   \
    EXPORT enum blas_status name(void);                                                            \
    EXPORT enum blas_status name(void)                                                             \
    {                                                                                              \
        return blas_refuse(#name, "");                                                             \
    }
#include "clients/blas/unsupported.def"
