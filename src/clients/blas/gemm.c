/*
 * gemm.c: cuBLAS's products of full matrices: by letter, Ex with any types, batched by pointers and
 * by stride. All of them become a struct blas_product.
 */
#include "clients/blas/blas.h"

#include <string.h>

typedef const struct blas_handle *handle_t;

/* What a call without a data type in its name has: gemm computes in the type of its matrices. */
static int compute_of(enum blas_type type)
{
    return type == TYPE_F64 || type == TYPE_C64 ? COMPUTE_64F
           : type == TYPE_F16                   ? COMPUTE_16F
                                                : COMPUTE_32F;
}

/* The type of alpha and beta. */
static enum blas_type scale_of(int compute, enum blas_type a)
{
    if (compute == COMPUTE_16F || compute == COMPUTE_16F + 1)
        return TYPE_F16;
    if (compute == COMPUTE_32I || compute == COMPUTE_32I + 1)
        return TYPE_I32;
    if (compute == COMPUTE_64F || compute == COMPUTE_64F + 1)
        return a == TYPE_C64 ? TYPE_C64 : TYPE_F64;
    return a == TYPE_C32 ? TYPE_C32 : TYPE_F32;
}

static enum blas_status multiply(handle_t handle, const char *name, struct blas_product product,
                                 const void *alpha, const void *beta)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!alpha || !beta || (unsigned)product.transpose_a > 2 || (unsigned)product.transpose_b > 2 ||
        product.c.ld < product.m || product.c.ld < 1 ||
        product.a.ld < (product.transpose_a ? product.k : product.m) ||
        product.b.ld < (product.transpose_b ? product.n : product.k))
        return BLAS_INVALID_VALUE;
    product.scale_type = scale_of(product.compute, product.a.type);
    if (handle->device_scalars) {
        product.device_alpha = alpha;
        product.device_beta = beta;
    } else {
        blas_widen(product.scale_type, alpha, 0, product.alpha);
        blas_widen(product.scale_type, beta, 0, product.beta);
    }
    /* CUBLAS_TF32_TENSOR_OP_MATH */
    if (product.compute == COMPUTE_32F && product.a.type == TYPE_F32 &&
        (handle->math_mode & 3) == 3)
        product.compute = 77;
    product.d = product.c;
    return blas_product(handle->stream, name, &product);
}

#define SHAPE(whole)                                                                               \
    handle_t handle, int ta, int tb, whole m, whole n, whole k, const void *alpha, const void *a
#define PRODUCT(...)                                                                               \
    (struct blas_product)                                                                          \
    {                                                                                              \
        .transpose_a = ta, .transpose_b = tb, .m = m, .n = n, .k = k, __VA_ARGS__                  \
    }
#define DEFINE(symbol, parameters)                                                                 \
    EXPORT enum blas_status symbol parameters;                                                     \
    EXPORT enum blas_status symbol parameters

/* By letter */
#define GEMM(symbol, whole, shown, T)                                                              \
    DEFINE(symbol, (SHAPE(whole), whole lda, const void *b, whole ldb, const void *beta, void *c,  \
                    whole ldc))                                                                    \
    {                                                                                              \
        return multiply(handle, shown,                                                             \
                        PRODUCT(.a = {.type = T, .data = a, .ld = lda},                            \
                                .b = {.type = T, .data = b, .ld = ldb},                            \
                                .c = {.type = T, .data = c, .ld = ldc}, .batch = 1,                \
                                .compute = compute_of(T)),                                         \
                        alpha, beta);                                                              \
    }
#define GEMM_BATCHED(symbol, whole, shown, T)                                                      \
    DEFINE(symbol, (SHAPE(whole), whole lda, const void *b, whole ldb, const void *beta, void *c,  \
                    whole ldc, whole count))                                                       \
    {                                                                                              \
        return multiply(handle, shown,                                                             \
                        PRODUCT(.a = {.type = T, .data = a, .ld = lda, .pointers = true},          \
                                .b = {.type = T, .data = b, .ld = ldb, .pointers = true},          \
                                .c = {.type = T, .data = c, .ld = ldc, .pointers = true},          \
                                .batch = count, .compute = compute_of(T)),                         \
                        alpha, beta);                                                              \
    }
#define GEMM_STRIDED(symbol, whole, shown, T)                                                      \
    DEFINE(symbol, (SHAPE(whole), whole lda, long long stride_a, const void *b, whole ldb,         \
                    long long stride_b, const void *beta, void *c, whole ldc, long long stride_c,  \
                    whole count))                                                                  \
    {                                                                                              \
        return multiply(handle, shown,                                                             \
                        PRODUCT(.a = {.type = T, .data = a, .ld = lda, .stride = stride_a},        \
                                .b = {.type = T, .data = b, .ld = ldb, .stride = stride_b},        \
                                .c = {.type = T, .data = c, .ld = ldc, .stride = stride_c},        \
                                .batch = count, .compute = compute_of(T)),                         \
                        alpha, beta);                                                              \
    }
#define BY_LETTER(X, version, T)                                                                   \
    GEMM(cublas##X##gemm##version, int, "cublas" #X "gemm", T)                                     \
    GEMM(cublas##X##gemm##version##_64, int64_t, "cublas" #X "gemm", T)                            \
    GEMM_BATCHED(cublas##X##gemmBatched, int, "cublas" #X "gemmBatched", T)                        \
    GEMM_BATCHED(cublas##X##gemmBatched_64, int64_t, "cublas" #X "gemmBatched", T)                 \
    GEMM_STRIDED(cublas##X##gemmStridedBatched, int, "cublas" #X "gemmStridedBatched", T)          \
    GEMM_STRIDED(cublas##X##gemmStridedBatched_64, int64_t, "cublas" #X "gemmStridedBatched", T)
BY_LETTER(S, _v2, TYPE_F32)
BY_LETTER(D, _v2, TYPE_F64)
BY_LETTER(C, _v2, TYPE_C32)
BY_LETTER(Z, _v2, TYPE_C64)
BY_LETTER(H, , TYPE_F16)
GEMM(cublasCgemm3m, int, "cublasCgemm3m", TYPE_C32)
GEMM(cublasCgemm3m_64, int64_t, "cublasCgemm3m", TYPE_C32)
GEMM(cublasZgemm3m, int, "cublasZgemm3m", TYPE_C64)
GEMM(cublasZgemm3m_64, int64_t, "cublasZgemm3m", TYPE_C64)

/* With types. A compute type of cudaDataType, as CUDA 10 had it, is smaller than 64. */
static int modern_compute(int compute)
{
    switch (compute) {
    case TYPE_F16:
        return COMPUTE_16F;
    case TYPE_F32:
    case TYPE_C32:
        return COMPUTE_32F;
    case TYPE_F64:
    case TYPE_C64:
        return COMPUTE_64F;
    case TYPE_I32:
        return COMPUTE_32I;
    default:
        return compute;
    }
}

#define TYPED(whole) SHAPE(whole), int type_a, whole lda
#define EX(suffix, whole)                                                                          \
    DEFINE(cublasGemmEx##suffix,                                                                   \
           (TYPED(whole), const void *b, int type_b, whole ldb, const void *beta, void *c,         \
            int type_c, whole ldc, int compute, int algorithm))                                    \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return multiply(handle, "cublasGemmEx",                                                    \
                        PRODUCT(.a = {.type = type_a, .data = a, .ld = lda},                       \
                                .b = {.type = type_b, .data = b, .ld = ldb},                       \
                                .c = {.type = type_c, .data = c, .ld = ldc}, .batch = 1,           \
                                .compute = modern_compute(compute)),                               \
                        alpha, beta);                                                              \
    }                                                                                              \
    DEFINE(cublasGemmBatchedEx##suffix,                                                            \
           (TYPED(whole), const void *b, int type_b, whole ldb, const void *beta, void *c,         \
            int type_c, whole ldc, whole count, int compute, int algorithm))                       \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return multiply(handle, "cublasGemmBatchedEx",                                             \
                        PRODUCT(.a = {.type = type_a, .data = a, .ld = lda, .pointers = true},     \
                                .b = {.type = type_b, .data = b, .ld = ldb, .pointers = true},     \
                                .c = {.type = type_c, .data = c, .ld = ldc, .pointers = true},     \
                                .batch = count, .compute = modern_compute(compute)),               \
                        alpha, beta);                                                              \
    }                                                                                              \
    DEFINE(cublasGemmStridedBatchedEx##suffix,                                                     \
           (TYPED(whole), long long stride_a, const void *b, int type_b, whole ldb,                \
            long long stride_b, const void *beta, void *c, int type_c, whole ldc,                  \
            long long stride_c, whole count, int compute, int algorithm))                          \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return multiply(handle, "cublasGemmStridedBatchedEx",                                      \
                        PRODUCT(.a = {.type = type_a, .data = a, .ld = lda, .stride = stride_a},   \
                                .b = {.type = type_b, .data = b, .ld = ldb, .stride = stride_b},   \
                                .c = {.type = type_c, .data = c, .ld = ldc, .stride = stride_c},   \
                                .batch = count, .compute = modern_compute(compute)),               \
                        alpha, beta);                                                              \
    }                                                                                              \
    DEFINE(cublasSgemmEx##suffix, (TYPED(whole), const void *b, int type_b, whole ldb,             \
                                   const void *beta, void *c, int type_c, whole ldc))              \
    {                                                                                              \
        return multiply(handle, "cublasSgemmEx",                                                   \
                        PRODUCT(.a = {.type = type_a, .data = a, .ld = lda},                       \
                                .b = {.type = type_b, .data = b, .ld = ldb},                       \
                                .c = {.type = type_c, .data = c, .ld = ldc}, .batch = 1,           \
                                .compute = COMPUTE_32F),                                           \
                        alpha, beta);                                                              \
    }                                                                                              \
    DEFINE(cublasCgemmEx##suffix, (TYPED(whole), const void *b, int type_b, whole ldb,             \
                                   const void *beta, void *c, int type_c, whole ldc))              \
    {                                                                                              \
        return multiply(handle, "cublasCgemmEx",                                                   \
                        PRODUCT(.a = {.type = type_a, .data = a, .ld = lda},                       \
                                .b = {.type = type_b, .data = b, .ld = ldb},                       \
                                .c = {.type = type_c, .data = c, .ld = ldc}, .batch = 1,           \
                                .compute = COMPUTE_32F),                                           \
                        alpha, beta);                                                              \
    }
EX(, int)
EX(_64, int64_t)
