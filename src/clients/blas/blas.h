/*
 * blas.h: the drop-ins for libcublas and libcublasLt on simulated GPUs: what their files share.
 * Values are those of NVIDIA's public headers, so that programs built with them work.
 */
#ifndef LOCKSTEP_CLIENTS_BLAS_H
#define LOCKSTEP_CLIENTS_BLAS_H

#include "driver/library_call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum blas_status {
    BLAS_SUCCESS = 0,
    BLAS_NOT_INITIALIZED = 1,
    BLAS_ALLOC_FAILED = 3,
    BLAS_INVALID_VALUE = 7,
    BLAS_EXECUTION_FAILED = 13,
    BLAS_NOT_SUPPORTED = 15
};

/* cudaDataType */
enum blas_type {
    TYPE_F32 = 0,
    TYPE_F64 = 1,
    TYPE_F16 = 2,
    TYPE_I8 = 3,
    TYPE_C32 = 4,
    TYPE_C64 = 5,
    TYPE_I32 = 10,
    TYPE_BF16 = 14,
    TYPE_E4M3 = 28,
    TYPE_E5M2 = 29
};

/* cublasComputeType_t, of which only these say how sums are kept */
enum blas_compute { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72 };

struct blas_handle {
    CUstream stream;
    bool device_scalars; /* cublasSetPointerMode */
    int math_mode, atomics_mode, sm_count;
    int emulation, special_values, mantissa_control, mantissa_bits, mantissa_offset;
};

/* A function of OpenBLAS; NULL, with a message, if there is none. */
void *blas_function(const char *name);

/* Bytes of one element; 0 if the type is not supported. */
size_t blas_type_size(enum blas_type type);
/* From and to double; for complex types `out` and `in` have two. */
void blas_widen(enum blas_type type, const void *in, size_t index, double *out);
void blas_narrow(enum blas_type type, void *out, size_t index, const double *in);

/* A product of matrices, all of them by column: c = alpha op(a) op(b) + beta c. */
struct blas_matrix {
    enum blas_type type;
    const void *data;
    int64_t ld, stride; /* stride: elements from one of a batch to the next */
    bool pointers;      /* data is an array of pointers, one for each of the batch */
    bool by_row;
};
enum blas_activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_GELU };
struct blas_product {
    int transpose_a, transpose_b; /* 0: as it is, 1: transposed, 2: with conjugates */
    int64_t m, n, k, batch;
    struct blas_matrix a, b, c, d; /* d is written; c is often the same */
    int compute;
    enum blas_type scale_type;
    double alpha[2], beta[2]; /* unless these point to device memory: */
    const void *device_alpha, *device_beta;
    /* cuBLASLt: */
    const void *bias; /* [m] */
    enum blas_type bias_type;
    enum blas_activation activation;
    void *before_activation; /* what goes into it, stored for the backward pass; NULL: not stored */
    int64_t before_ld;
    const float *scale_a, *scale_b, *scale_c, *scale_d; /* on the device; NULL: 1 */
};
enum blas_status blas_product(CUstream stream, const char *name,
                              const struct blas_product *product);

/* A status for a driver's result. */
enum blas_status blas_status_of(CUresult result);

/* Prints what is not supported, and returns the status for it. */
enum blas_status blas_refuse(const char *name, const char *what);

#endif
