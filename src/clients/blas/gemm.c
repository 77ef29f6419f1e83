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

/* Batches whose groups have sizes of their own. Sizes and factors are on the host, the pointers to
 * the matrices of all groups follow each other on the device. */
struct groups {
    const int *ta, *tb;
    const void *m, *n, *k, *lda, *ldb, *ldc, *sizes;
    bool wide; /* those have 64 bits */
    const void *alpha, *beta;
    const void *const *a, *const *b;
    void *const *c;
    int type_a, type_b, type_c, compute;
};

static int64_t size_at(const struct groups *groups, const void *sizes, int64_t i)
{
    return groups->wide ? ((const int64_t *)sizes)[i] : ((const int *)sizes)[i];
}

static enum blas_status multiply_groups(handle_t handle, const char *name, const struct groups *g,
                                        int64_t count)
{
    int64_t first = 0;
    enum blas_status status = handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
    if (count < 0 ||
        (count && (!g->ta || !g->tb || !g->m || !g->n || !g->k || !g->lda || !g->ldb || !g->ldc ||
                   !g->sizes || !g->alpha || !g->beta || !g->a || !g->b || !g->c)))
        return BLAS_INVALID_VALUE;
    for (int64_t i = 0; i < count && status == BLAS_SUCCESS; i++) {
        int64_t size = size_at(g, g->sizes, i);
        size_t factor = blas_type_size(scale_of(g->compute, (enum blas_type)g->type_a));
        struct blas_product product = {.transpose_a = g->ta[i],
                                       .transpose_b = g->tb[i],
                                       .m = size_at(g, g->m, i),
                                       .n = size_at(g, g->n, i),
                                       .k = size_at(g, g->k, i),
                                       .a = {.type = (enum blas_type)g->type_a,
                                             .data = g->a + first,
                                             .ld = size_at(g, g->lda, i),
                                             .pointers = true},
                                       .b = {.type = (enum blas_type)g->type_b,
                                             .data = g->b + first,
                                             .ld = size_at(g, g->ldb, i),
                                             .pointers = true},
                                       .c = {.type = (enum blas_type)g->type_c,
                                             .data = g->c + first,
                                             .ld = size_at(g, g->ldc, i),
                                             .pointers = true},
                                       .batch = size,
                                       .compute = g->compute};
        if (size < 0)
            return BLAS_INVALID_VALUE;
        status = multiply(handle, name, product, (const char *)g->alpha + (size_t)i * factor,
                          (const char *)g->beta + (size_t)i * factor);
        first += size;
    }
    return status;
}

#define GROUP_SIZES                                                                                \
    .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc,                \
    .sizes = sizes, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c
#define GROUPED(symbol, whole, shown, T)                                                           \
    DEFINE(symbol, (handle_t handle, const int *ta, const int *tb, const whole *m, const whole *n, \
                    const whole *k, const void *alpha, const void *const *a, const whole *lda,     \
                    const void *const *b, const whole *ldb, const void *beta, void *const *c,      \
                    const whole *ldc, whole groups, const whole *sizes))                           \
    {                                                                                              \
        struct groups all = {GROUP_SIZES, .wide = sizeof(whole) == 8, .type_a = T, .type_b = T,    \
                             .type_c = T, .compute = compute_of(T)};                               \
        return multiply_groups(handle, shown, &all, groups);                                       \
    }
#define GROUPED_EX(symbol, whole)                                                                  \
    DEFINE(symbol,                                                                                 \
           (handle_t handle, const int *ta, const int *tb, const whole *m, const whole *n,         \
            const whole *k, const void *alpha, const void *const *a, int type_a, const whole *lda, \
            const void *const *b, int type_b, const whole *ldb, const void *beta, void *const *c,  \
            int type_c, const whole *ldc, whole groups, const whole *sizes, int compute))          \
    {                                                                                              \
        struct groups all = {GROUP_SIZES,      .wide = sizeof(whole) == 8,                         \
                             .type_a = type_a, .type_b = type_b,                                   \
                             .type_c = type_c, .compute = modern_compute(compute)};                \
        return multiply_groups(handle, "cublasGemmGroupedBatchedEx", &all, groups);                \
    }
GROUPED(cublasSgemmGroupedBatched, int, "cublasSgemmGroupedBatched", TYPE_F32)
GROUPED(cublasSgemmGroupedBatched_64, int64_t, "cublasSgemmGroupedBatched", TYPE_F32)
GROUPED(cublasDgemmGroupedBatched, int, "cublasDgemmGroupedBatched", TYPE_F64)
GROUPED(cublasDgemmGroupedBatched_64, int64_t, "cublasDgemmGroupedBatched", TYPE_F64)
GROUPED_EX(cublasGemmGroupedBatchedEx, int)
GROUPED_EX(cublasGemmGroupedBatchedEx_64, int64_t)
