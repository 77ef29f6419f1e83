/*
 * product.c: products of matrices of all types, with what cuBLASLt does to the result; see blas.h.
 * Types that OpenBLAS knows go there as they are. Others are widened, multiplied in 32 bits (in 64
 * where the sum is kept in 64 bits or in integers, which are exact then) and narrowed; f16 and bf16
 * are added up as tensor cores do it.
 */
#include "clients/blas/blas.h"
#include "simt/tensor_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_complex(enum blas_type type)
{
    return type == TYPE_C32 || type == TYPE_C64;
}

static bool is_openblas_type(enum blas_type type)
{
    return type == TYPE_F32 || type == TYPE_F64 || is_complex(type);
}

/* The device address of one of a batch; NULL where the array of pointers cannot be read. */
static char *matrix_at(const struct blas_matrix *matrix, int64_t index)
{
    if (!matrix->pointers)
        return (char *)matrix->data +
               index * matrix->stride * (int64_t)blas_type_size(matrix->type);
    char **list = lk_library_bytes((char *const *)matrix->data + index, sizeof *list);
    return list ? *list : NULL;
}

/* Bytes from the first to the last element. */
static size_t matrix_bytes(const struct blas_matrix *matrix, int64_t rows, int64_t columns)
{
    int64_t lines = matrix->by_row ? rows : columns, length = matrix->by_row ? columns : rows;
    return lines && length
               ? (size_t)((lines - 1) * matrix->ld + length) * blas_type_size(matrix->type)
               : 0;
}

/* Where the host finds it. */
static char *matrix_open(const struct blas_matrix *matrix, int64_t index, int64_t rows,
                         int64_t columns)
{
    char *at = matrix_at(matrix, index);
    return at ? lk_library_bytes(at, matrix_bytes(matrix, rows, columns)) : NULL;
}

static size_t element_at(const struct blas_matrix *matrix, int64_t row, int64_t column)
{
    return (size_t)(matrix->by_row ? row * matrix->ld + column : column * matrix->ld + row);
}

static void read_scalar(const struct blas_product *product, const void *device, double value[2])
{
    const void *bytes =
        device ? lk_library_bytes(device, blas_type_size(product->scale_type)) : NULL;
    if (bytes)
        blas_widen(product->scale_type, bytes, 0, value);
}

/* OpenBLAS: all arguments by reference, matrices by column */
typedef void gemm(const char *, const char *, const int *, const int *, const int *, const void *,
                  const void *, const int *, const void *, const int *, const void *, void *,
                  const int *);

static gemm *find_gemm(enum blas_type type)
{
    const char *name = type == TYPE_F32   ? "sgemm_"
                       : type == TYPE_F64 ? "dgemm_"
                       : type == TYPE_C32 ? "cgemm_"
                                          : "zgemm_";
    return (gemm *)blas_function(name);
}

struct operands {
    const void *a, *b;
    void *d;
    int64_t lda, ldb, ldd;
    int transpose_a, transpose_b;
};

static void call_gemm(enum blas_type type, const struct blas_product *p, const double *alpha,
                      const double *beta, const struct operands *with)
{
    static const char words[] = "NTC";
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int lda = (int)with->lda, ldb = (int)with->ldb, ldd = (int)with->ldd;
    double scales[2][2];
    blas_narrow(type, scales[0], 0, alpha);
    blas_narrow(type, scales[1], 0, beta);
    gemm *function = find_gemm(type);
    if (function && m && n)
        function(words + with->transpose_a, words + with->transpose_b, &m, &n, &k, scales[0],
                 with->a, &lda, with->b, &ldb, scales[1], with->d, &ldd);
}

/* As it is ------------------------------------------------------------------------------------- */

static bool is_direct(const struct blas_product *p)
{
    return is_openblas_type(p->a.type) && p->a.type == p->b.type && p->a.type == p->c.type &&
           p->a.type == p->d.type && !p->a.by_row && !p->b.by_row && !p->c.by_row && !p->d.by_row &&
           !p->bias && !p->activation && !p->scale_a && !p->scale_b && !p->scale_c && !p->scale_d;
}

static void run_direct(const struct blas_product *p, int64_t at)
{
    bool ta = p->transpose_a != 0, tb = p->transpose_b != 0;
    char *a = matrix_open(&p->a, at, ta ? p->k : p->m, ta ? p->m : p->k);
    char *b = matrix_open(&p->b, at, tb ? p->n : p->k, tb ? p->k : p->n);
    char *c = p->c.data ? matrix_open(&p->c, at, p->m, p->n) : NULL;
    char *d = matrix_open(&p->d, at, p->m, p->n);
    size_t size = blas_type_size(p->d.type);
    bool uses_c = p->beta[0] != 0 || p->beta[1] != 0;
    if (!d || ((!a || !b) && p->k))
        return;
    for (int64_t column = 0; uses_c && c && c != d && column < p->n; column++)
        memcpy(d + (size_t)(column * p->d.ld) * size, c + (size_t)(column * p->c.ld) * size,
               (size_t)p->m * size);
    call_gemm(
        p->a.type, p, p->alpha, p->beta,
        &(struct operands){a, b, d, p->a.ld, p->b.ld, p->d.ld, p->transpose_a, p->transpose_b});
}

/* Widened -------------------------------------------------------------------------------------- */

/* The matrix, rows by columns as stored, by column; malloc'd. */
static void *widen(const struct blas_matrix *matrix, int64_t at, int64_t rows, int64_t columns,
                   enum blas_type type)
{
    const char *data = matrix_open(matrix, at, rows, columns);
    void *wide = !data ? NULL : malloc((size_t)(rows * columns) * blas_type_size(type) + 1);
    for (int64_t column = 0; wide && column < columns; column++)
        for (int64_t row = 0; row < rows; row++) {
            double value[2] = {0};
            blas_widen(matrix->type, data, element_at(matrix, row, column), value);
            blas_narrow(type, wide, (size_t)(column * rows + row), value);
        }
    return wide;
}

static double activate(enum blas_activation activation, double x)
{
    switch (activation) {
    case ACTIVATION_RELU:
        return x > 0 ? x : x != x ? x : 0;
    case ACTIVATION_GELU: /* the form with tanh, as cuBLASLt's */
        return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default:
        return x;
    }
}

static double factor(const float *scale)
{
    scale = scale ? lk_library_bytes(scale, sizeof *scale) : NULL;
    return scale ? (double)*scale : 1;
}

/* d from the sums: scaled, with c, bias and activation. */
static void finish(const struct blas_product *p, int64_t at, enum blas_type wide, const void *sums)
{
    const char *c = p->c.data && p->beta[0] != 0 ? matrix_open(&p->c, at, p->m, p->n) : NULL;
    char *d = matrix_open(&p->d, at, p->m, p->n);
    const void *bias =
        p->bias ? lk_library_bytes(p->bias, (size_t)p->m * blas_type_size(p->bias_type)) : NULL;
    void *before = p->before_activation
                       ? lk_library_bytes(p->before_activation,
                                          (size_t)(p->n * p->before_ld) * blas_type_size(p->d.type))
                       : NULL;
    if (!d)
        return;
    double alpha = p->alpha[0] * factor(p->scale_a) * factor(p->scale_b);
    double beta = p->beta[0] * factor(p->scale_c), scale_d = factor(p->scale_d);
    for (int64_t column = 0; column < p->n; column++)
        for (int64_t row = 0; row < p->m; row++) {
            double value[2] = {0}, other[2] = {0};
            blas_widen(wide, sums, (size_t)(column * p->m + row), value);
            value[0] *= alpha;
            if (c && beta != 0) {
                blas_widen(p->c.type, c, element_at(&p->c, row, column), other);
                value[0] += beta * other[0];
            }
            if (bias) {
                blas_widen(p->bias_type, bias, (size_t)row, other);
                value[0] += other[0];
            }
            if (before)
                blas_narrow(p->d.type, before, (size_t)(column * p->before_ld + row), value);
            value[0] = activate(p->activation, value[0]) * scale_d;
            blas_narrow(p->d.type, d, element_at(&p->d, row, column), value);
        }
}

/* On the GPU, sums of these are the tensor cores'. */
static bool is_for_tensor_cores(const struct blas_product *p)
{
    return p->a.type == p->b.type && (p->a.type == TYPE_F16 || p->a.type == TYPE_BF16) &&
           (p->compute == COMPUTE_32F || p->compute == COMPUTE_32F + 1 ||
            p->compute > COMPUTE_32I + 1);
}

/* False if it was not done: there is not enough memory. */
static bool run_on_tensor_cores(const struct blas_product *p, int64_t at)
{
    bool ta = p->transpose_a != 0, tb = p->transpose_b != 0;
    const char *a = matrix_open(&p->a, at, ta ? p->k : p->m, ta ? p->m : p->k);
    const char *b = matrix_open(&p->b, at, tb ? p->n : p->k, tb ? p->k : p->n);
    float *sums = a && b ? calloc((size_t)(p->m * p->n) + 1, sizeof *sums) : NULL;
    /* A transposed matrix by columns lies as an untransposed one by rows. */
    size_t a_ld = (size_t)p->a.ld, b_ld = (size_t)p->b.ld;
    const struct tensor_product product = {.is_bf16 = p->a.type == TYPE_BF16,
                                           .m = (size_t)p->m,
                                           .n = (size_t)p->n,
                                           .k = (size_t)p->k,
                                           .a = (const uint16_t *)(const void *)a,
                                           .a_row = ta != p->a.by_row ? a_ld : 1,
                                           .a_k = ta != p->a.by_row ? 1 : a_ld,
                                           .b = (const uint16_t *)(const void *)b,
                                           .b_column = tb != p->b.by_row ? 1 : b_ld,
                                           .b_k = tb != p->b.by_row ? b_ld : 1,
                                           .sums = sums};
    bool done = sums && lk_library_tensor_product(&product);
    if (done)
        finish(p, at, TYPE_F32, sums);
    free(sums);
    return done;
}

static void run_widened(const struct blas_product *p, int64_t at)
{
    static const double one[2] = {1}, zero[2] = {0};
    bool in_double = p->compute == COMPUTE_64F || p->compute == COMPUTE_64F + 1 ||
                     p->compute == COMPUTE_32I || p->compute == COMPUTE_32I + 1 ||
                     p->a.type == TYPE_F64;
    enum blas_type wide = in_double ? TYPE_F64 : TYPE_F32;
    bool ta = p->transpose_a != 0, tb = p->transpose_b != 0;
    int64_t rows_a = ta ? p->k : p->m, rows_b = tb ? p->n : p->k;
    void *a = widen(&p->a, at, rows_a, ta ? p->m : p->k, wide);
    void *b = widen(&p->b, at, rows_b, tb ? p->k : p->n, wide);
    void *sums = calloc((size_t)(p->m * p->n) + 1, blas_type_size(wide));
    if (a && b && sums) {
        call_gemm(wide, p, one, zero,
                  &(struct operands){a, b, sums, rows_a ? rows_a : 1, rows_b ? rows_b : 1,
                                     p->m ? p->m : 1, ta, tb});
        finish(p, at, wide, sums);
    }
    free(a);
    free(b);
    free(sums);
}

/* In the stream -------------------------------------------------------------------------------- */

static void run_product(void *data)
{
    struct blas_product *p = data;
    read_scalar(p, p->device_alpha, p->alpha);
    read_scalar(p, p->device_beta, p->beta);
    for (int64_t at = 0; at < p->batch; at++) {
        if (is_direct(p))
            run_direct(p, at);
        else if (!is_for_tensor_cores(p) || !run_on_tensor_cores(p, at))
            run_widened(p, at);
        lk_library_wrote(matrix_at(&p->d, at), matrix_bytes(&p->d, p->m, p->n));
    }
}

static enum lk_library_unit unit_of(const struct blas_product *p)
{
    switch (p->a.type) {
    case TYPE_F16:
    case TYPE_BF16:
        return LK_UNIT_TENSOR_F16;
    case TYPE_E4M3:
    case TYPE_E5M2:
        return LK_UNIT_TENSOR_F8;
    case TYPE_I8:
        return LK_UNIT_TENSOR_INT8;
    case TYPE_F64:
    case TYPE_C64:
        return LK_UNIT_TENSOR_F64;
    default: /* CUBLAS_COMPUTE_32F_FAST_16F to _FAST_TF32 */
        return p->compute >= 74 && p->compute <= 77 ? LK_UNIT_TENSOR_TF32 : LK_UNIT_F32;
    }
}

enum blas_status blas_product(CUstream stream, const char *name, const struct blas_product *p)
{
    if (!blas_type_size(p->a.type) || !blas_type_size(p->b.type) || !blas_type_size(p->c.type) ||
        !blas_type_size(p->d.type))
        return blas_refuse(name, "with these types");
    if (!is_direct(p) && (is_complex(p->a.type) || is_complex(p->d.type)))
        return blas_refuse(name, "with complex and other types mixed");
    if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || p->m > INT32_MAX || p->n > INT32_MAX ||
        p->k > INT32_MAX)
        return BLAS_INVALID_VALUE;
    if (!find_gemm(TYPE_F32))
        return BLAS_NOT_INITIALIZED;
    double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
    struct lk_library_call call = {.name = name,
                                   .function = run_product,
                                   .data = p,
                                   .size = sizeof *p,
                                   .operations =
                                       (is_complex(p->a.type) ? 8 : 2) * m * n * k * batch,
                                   .bytes = batch * (m * k * (double)blas_type_size(p->a.type) +
                                                     k * n * (double)blas_type_size(p->b.type) +
                                                     m * n * (double)blas_type_size(p->d.type)),
                                   .unit = unit_of(p)};
    return blas_status_of(lk_library_call(stream, &call));
}
