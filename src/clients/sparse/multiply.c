/*
 * multiply.c: products with dense vectors and matrices: SpMV, SpMM, SDDMM, and what is done with
 * sparse vectors. No call needs a buffer; programs may give one.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <stdlib.h>

/* c = beta * c; what is there is not read if beta is zero. NULL after a failure. */
static struct number *scaled(const struct dense_matrix *c, int batch, struct number beta)
{
    size_t count = (size_t)c->rows * (size_t)c->cols;
    bool is_complex = sparse_is_complex(c->type);
    if (number_is_zero(beta)) {
        struct number *zeros = lk_alloc_zeroed((count + 1) * sizeof *zeros);
        return zeros;
    }
    struct number *values = sparse_dense(c, batch);
    for (size_t i = 0; values && i < count; i++)
        values[i] = number_times(values[i], beta, is_complex);
    return values;
}

/* Sparse times dense --------------------------------------------------------------------------- */

struct product {
    struct sparse_matrix a;
    struct dense_matrix b, c;
    enum sparse_op op_a, op_b;
    struct scalar alpha, beta;
};

/* sums[i][j] += a[i][k] * b[k][j], b as it is stored or turned. */
static void add_products(const struct entries *a, const struct dense_matrix *b, enum sparse_op op_b,
                         const struct number *values, int64_t n, struct number alpha,
                         struct number *sums)
{
    bool is_complex = a->is_complex || sparse_is_complex(b->type);
    for (int64_t i = 0; i < a->count; i++) {
        struct number factor = number_times(alpha, a->value[i], is_complex);
        struct number *row = sums + a->row[i] * n;
        int64_t k = a->col[i];
        for (int64_t j = 0; j < n; j++) {
            struct number value = op_b == OP_NONE ? values[k * n + j] : values[j * b->cols + k];
            if (op_b == OP_CONJUGATE)
                value = number_conjugate(value);
            row[j] = number_add(row[j], number_times(factor, value, is_complex));
        }
    }
}

static void run_product(void *data)
{
    const struct product *product = data;
    struct number alpha, beta;
    if (!sparse_scalar_read(&product->alpha, &alpha) || !sparse_scalar_read(&product->beta, &beta))
        return;
    int batches = product->c.batch;
    for (int batch = 0; batch < batches; batch++) {
        struct entries a;
        if (!sparse_entries(&product->a, product->a.batch > 1 ? batch : 0, true, &a))
            return;
        sparse_entries_turn(&a, product->op_a);
        struct number *b = sparse_dense(&product->b, product->b.batch > 1 ? batch : 0);
        struct number *c = b ? scaled(&product->c, batch, beta) : NULL;
        if (c) {
            add_products(&a, &product->b, product->op_b, b, product->c.cols, alpha, c);
            sparse_dense_store(&product->c, batch, c);
        }
        free(b);
        free(c);
        sparse_entries_free(&a);
    }
}

static bool known_op(int op)
{
    return op >= OP_NONE && op <= OP_CONJUGATE;
}

static int multiply(const struct context *context, const char *name, struct product *product)
{
    const struct sparse_matrix *a = &product->a;
    const struct dense_matrix *b = &product->b, *c = &product->c;
    int64_t rows = product->op_a ? a->cols : a->rows, inner = product->op_a ? a->rows : a->cols;
    int64_t b_rows = product->op_b ? b->cols : b->rows, b_cols = product->op_b ? b->rows : b->cols;
    if (rows != c->rows || inner != b_rows || b_cols != c->cols ||
        (a->batch > 1 && a->batch != c->batch) || (b->batch > 1 && b->batch != c->batch))
        return SPARSE_INVALID_VALUE;
    double dense = (double)(b->rows * b->cols) * (double)sparse_type_size(b->type) +
                   2 * (double)(c->rows * c->cols) * (double)sparse_type_size(c->type);
    struct sparse_cost cost = {.operations = 2.0 * (double)a->count * (double)c->cols * c->batch,
                               .bytes = (sparse_bytes(a) + dense) * c->batch,
                               .type = c->type};
    return sparse_call(context, name, run_product, product, sizeof *product, cost);
}

static int product_of(void *handle, const char *name, int op_a, int op_b, const void *alpha,
                      const void *a_handle, const void *b_handle, const void *beta,
                      const void *c_handle, enum sparse_kind kind, int compute)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(a, a_handle, KIND_SPARSE_MATRIX, sparse);
    FIND(b, b_handle, kind, dense);
    FIND(c, c_handle, kind, dense);
    if (!known_op(op_a) || !known_op(op_b) || !alpha || !beta)
        return SPARSE_INVALID_VALUE;
    if (!sparse_type_size(compute))
        return SPARSE_NOT_SUPPORTED;
    struct product product = {.a = *a,
                              .b = *b,
                              .c = *c,
                              .op_a = (enum sparse_op)op_a,
                              .op_b = (enum sparse_op)op_b,
                              .alpha = sparse_scalar(context, alpha, compute),
                              .beta = sparse_scalar(context, beta, compute)};
    return multiply(context, name, &product);
}

API(cusparseSpMV, void *handle, int op, const void *alpha, const void *a, const void *x,
    const void *beta, void *y, int compute, int algorithm, void *buffer)
{
    (void)algorithm, (void)buffer;
    return product_of(handle, "cusparseSpMV", op, OP_NONE, alpha, a, x, beta, y, KIND_DENSE_VECTOR,
                      compute);
}

API(cusparseSpMM, void *handle, int op_a, int op_b, const void *alpha, const void *a, const void *b,
    const void *beta, void *c, int compute, int algorithm, void *buffer)
{
    (void)algorithm, (void)buffer;
    return product_of(handle, "cusparseSpMM", op_a, op_b, alpha, a, b, beta, c, KIND_DENSE_MATRIX,
                      compute);
}

/* Sampled dense times dense -------------------------------------------------------------------- */

struct sampled {
    struct dense_matrix a, b;
    struct sparse_matrix c;
    enum sparse_op op_a, op_b;
    struct scalar alpha, beta;
};

static struct number element(const struct number *values, const struct dense_matrix *matrix,
                             enum sparse_op op, int64_t row, int64_t col)
{
    struct number value =
        values[op == OP_NONE ? row * matrix->cols + col : col * matrix->cols + row];
    return op == OP_CONJUGATE ? number_conjugate(value) : value;
}

static void sample(const struct sampled *s, const struct number *a, const struct number *b,
                   struct entries *c, struct number alpha, struct number beta)
{
    int64_t inner = s->op_a == OP_NONE ? s->a.cols : s->a.rows;
    for (int64_t i = 0; i < c->count; i++) {
        struct number sum = {0, 0};
        for (int64_t k = 0; k < inner; k++)
            sum = number_add(sum,
                             number_times(element(a, &s->a, s->op_a, c->row[i], k),
                                          element(b, &s->b, s->op_b, k, c->col[i]), c->is_complex));
        sum = number_times(sum, alpha, c->is_complex);
        c->value[i] = number_is_zero(beta)
                          ? sum
                          : number_add(sum, number_times(beta, c->value[i], c->is_complex));
    }
}

static void run_sampled(void *data)
{
    const struct sampled *s = data;
    struct number alpha, beta;
    if (!sparse_scalar_read(&s->alpha, &alpha) || !sparse_scalar_read(&s->beta, &beta))
        return;
    for (int batch = 0; batch < s->c.batch; batch++) {
        struct entries c;
        if (!sparse_entries(&s->c, batch, true, &c))
            return;
        struct number *a = sparse_dense(&s->a, s->a.batch > 1 ? batch : 0);
        struct number *b = a ? sparse_dense(&s->b, s->b.batch > 1 ? batch : 0) : NULL;
        if (b) {
            size_t size = sparse_type_size(s->c.type);
            sample(s, a, b, &c, alpha, beta);
            sparse_store((char *)s->c.values + (size_t)(s->c.values_stride * batch) * size,
                         s->c.type, c.value, c.count);
        }
        free(a);
        free(b);
        sparse_entries_free(&c);
    }
}

API(cusparseSDDMM, void *handle, int op_a, int op_b, const void *alpha, const void *a_handle,
    const void *b_handle, const void *beta, void *c_handle, int compute, int algorithm,
    void *buffer)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(a, a_handle, KIND_DENSE_MATRIX, dense);
    FIND(b, b_handle, KIND_DENSE_MATRIX, dense);
    FIND(c, c_handle, KIND_SPARSE_MATRIX, sparse);
    (void)algorithm, (void)buffer;
    struct sampled sampled = {.a = *a,
                              .b = *b,
                              .c = *c,
                              .op_a = (enum sparse_op)op_a,
                              .op_b = (enum sparse_op)op_b,
                              .alpha = sparse_scalar(context, alpha, compute),
                              .beta = sparse_scalar(context, beta, compute)};
    int64_t rows = op_a ? a->cols : a->rows, inner = op_a ? a->rows : a->cols;
    int64_t b_rows = op_b ? b->cols : b->rows, cols = op_b ? b->rows : b->cols;
    if (!known_op(op_a) || !known_op(op_b) || !alpha || !beta || rows != c->rows ||
        cols != c->cols || inner != b_rows)
        return SPARSE_INVALID_VALUE;
    struct sparse_cost cost = {2.0 * (double)c->count * (double)inner * c->batch,
                               sparse_bytes(c) + (double)(a->rows * a->cols + b->rows * b->cols) *
                                                     (double)sparse_type_size(a->type),
                               c->type};
    return sparse_call(context, "cusparseSDDMM", run_sampled, &sampled, sizeof sampled, cost);
}

/* Buffers: none is needed, but programs allocate what they are told and want an address. ------- */

enum { SOME_BYTES = 8 };

#define BUFFER_SIZE(name)                                                                          \
    API(name, void *handle, int op_a, int op_b, const void *alpha, const void *a, const void *b,   \
        const void *beta, void *c, int compute, int algorithm, size_t *size)                       \
    {                                                                                              \
        (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c;                \
        (void)compute, (void)algorithm;                                                            \
        if (!sparse_find(handle, KIND_CONTEXT))                                                    \
            return SPARSE_NOT_INITIALIZED;                                                         \
        if (!size)                                                                                 \
            return SPARSE_INVALID_VALUE;                                                           \
        *size = SOME_BYTES;                                                                        \
        return SPARSE_SUCCESS;                                                                     \
    }
BUFFER_SIZE(cusparseSpMM_bufferSize)
BUFFER_SIZE(cusparseSDDMM_bufferSize)

API(cusparseSpMV_bufferSize, void *handle, int op, const void *alpha, const void *a, const void *x,
    const void *beta, void *y, int compute, int algorithm, size_t *size)
{
    return cusparseSpMM_bufferSize(handle, op, OP_NONE, alpha, a, x, beta, y, compute, algorithm,
                                   size);
}

#define PREPROCESS(name, ...)                                                                      \
    API(name, void *handle, __VA_ARGS__)                                                           \
    {                                                                                              \
        (void)op, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)compute;               \
        (void)algorithm, (void)buffer;                                                             \
        return sparse_find(handle, KIND_CONTEXT) ? SPARSE_SUCCESS : SPARSE_NOT_INITIALIZED;        \
    }
PREPROCESS(cusparseSpMV_preprocess, int op, const void *alpha, const void *a, const void *b,
           const void *beta, void *c, int compute, int algorithm, void *buffer)
PREPROCESS(cusparseSpMM_preprocess, int op, int op_b, const void *alpha, const void *a,
           const void *b, const void *beta, void *c, int compute, int algorithm, void *buffer)
PREPROCESS(cusparseSDDMM_preprocess, int op, int op_b, const void *alpha, const void *a,
           const void *b, const void *beta, void *c, int compute, int algorithm, void *buffer)

/* Sparse vectors ------------------------------------------------------------------------------- */

struct vectors {
    struct sparse_matrix x;
    struct dense_matrix y;
    struct scalar a, b; /* alpha and beta, or a rotation's cosine and sine */
    enum { DOT, AXPBY, GATHER, SCATTER, ROTATE } what;
    bool conjugates, to_device;
    void *result;
    int compute;
};

static void put_result(const struct vectors *v, struct number sum)
{
    if (v->to_device) {
        sparse_store(v->result, v->compute, &sum, 1);
    } else { /* the call waits for it */
        struct number *result = v->result;
        *result = sum;
    }
}

static void run_on_values(const struct vectors *v, const int64_t *at, struct number *x,
                          struct number *y, struct number a, struct number b)
{
    bool is_complex = sparse_is_complex(v->y.type) || sparse_is_complex(v->compute);
    struct number sum = {0, 0};
    for (int64_t i = 0; v->what == AXPBY && i < v->y.rows; i++)
        y[i] = number_is_zero(b) ? (struct number){0, 0} : number_times(b, y[i], is_complex);
    for (int64_t i = 0; i < v->x.count; i++) {
        struct number old = x[i], *to = &y[at[i]];
        switch (v->what) {
        case DOT:
            old = v->conjugates ? number_conjugate(old) : old;
            sum = number_add(sum, number_times(old, *to, is_complex));
            break;
        case AXPBY:
            *to = number_add(*to, number_times(a, old, is_complex));
            break;
        case GATHER:
            x[i] = *to;
            break;
        case SCATTER:
            *to = old;
            break;
        case ROTATE:
            x[i] = number_add(number_times(a, old, is_complex), number_times(b, *to, is_complex));
            b.re = -b.re, b.im = -b.im;
            *to = number_add(number_times(a, *to, is_complex), number_times(b, old, is_complex));
            b.re = -b.re, b.im = -b.im;
            break;
        }
    }
    if (v->what == DOT)
        put_result(v, sum);
}

static void run_vectors(void *data)
{
    const struct vectors *v = data;
    struct number a = {0, 0}, b = {0, 0};
    if (!sparse_scalar_read(&v->a, &a) || !sparse_scalar_read(&v->b, &b))
        return;
    int64_t *at = sparse_load_indices(v->x.indices, v->x.indices_type, v->x.count, v->x.base);
    struct number *x = at ? sparse_load(v->x.values, v->x.type, v->x.count) : NULL;
    struct number *y = x ? sparse_load(v->y.values, v->y.type, v->y.rows) : NULL;
    bool fine = y != NULL;
    for (int64_t i = 0; fine && i < v->x.count; i++)
        fine = at[i] >= 0 && at[i] < v->y.rows;
    if (y && !fine)
        lk_library_fail("an index lies outside the vector");
    if (fine) {
        run_on_values(v, at, x, y, a, b);
        if (v->what == GATHER || v->what == ROTATE)
            sparse_store(v->x.values, v->x.type, x, v->x.count);
        if (v->what == AXPBY || v->what == SCATTER || v->what == ROTATE)
            sparse_store(v->y.values, v->y.type, y, v->y.rows);
    }
    free(at);
    free(x);
    free(y);
}

static int on_vectors(void *handle, const char *name, const void *x_handle, const void *y_handle,
                      struct vectors *vectors, const void *a, const void *b)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(x, x_handle, KIND_SPARSE_VECTOR, sparse);
    FIND(y, y_handle, KIND_DENSE_VECTOR, dense);
    if (x->cols != y->rows)
        return SPARSE_INVALID_VALUE;
    vectors->x = *x;
    vectors->y = *y;
    int type = vectors->what == DOT || vectors->what == ROTATE ? vectors->compute : x->type;
    vectors->a = sparse_scalar(context, a, type);
    vectors->b = sparse_scalar(context, b, type);
    struct sparse_cost cost = {2.0 * (double)x->count, 3.0 * sparse_bytes(x), y->type};
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    cuStreamIsCapturing(context->stream, &capture);
    /* A graph writes a result for the host, too, when it runs. */
    if (vectors->what != DOT || context->device_scalars || capture) {
        vectors->to_device = true;
        return sparse_call(context, name, run_vectors, vectors, sizeof *vectors, cost);
    }
    struct number sum = {0, 0};
    struct vectors own = *vectors;
    own.result = &sum;
    if (!vectors->result)
        return SPARSE_INVALID_VALUE;
    int status = sparse_call_now(context, name, run_vectors, &own, sizeof own, cost);
    return status == SPARSE_SUCCESS ? sparse_put_scalar(vectors->result, vectors->compute, sum)
                                    : status;
}

API(cusparseSpVV, void *handle, int op, const void *x, const void *y, void *result, int compute,
    void *buffer)
{
    (void)buffer;
    struct vectors vectors = {
        .what = DOT, .conjugates = op == OP_CONJUGATE, .result = result, .compute = compute};
    return known_op(op) ? on_vectors(handle, "cusparseSpVV", x, y, &vectors, NULL, NULL)
                        : SPARSE_INVALID_VALUE;
}

API(cusparseSpVV_bufferSize, void *handle, int op, const void *x, const void *y, const void *result,
    int compute, size_t *size)
{
    (void)op, (void)x, (void)y, (void)result, (void)compute;
    if (!sparse_find(handle, KIND_CONTEXT))
        return SPARSE_NOT_INITIALIZED;
    if (!size)
        return SPARSE_INVALID_VALUE;
    *size = SOME_BYTES;
    return SPARSE_SUCCESS;
}

API(cusparseAxpby, void *handle, const void *alpha, const void *x, const void *beta, void *y)
{
    return on_vectors(handle, "cusparseAxpby", x, y, &(struct vectors){.what = AXPBY}, alpha, beta);
}

API(cusparseGather, void *handle, const void *y, void *x)
{
    return on_vectors(handle, "cusparseGather", x, y, &(struct vectors){.what = GATHER}, NULL,
                      NULL);
}

API(cusparseScatter, void *handle, const void *x, void *y)
{
    return on_vectors(handle, "cusparseScatter", x, y, &(struct vectors){.what = SCATTER}, NULL,
                      NULL);
}

API(cusparseRot, void *handle, const void *cosine, const void *sine, void *x, void *y)
{
    const union sparse_data *data = sparse_find(x, KIND_SPARSE_VECTOR);
    int type = data ? data->sparse.type : TYPE_F32;
    return on_vectors(handle, "cusparseRot", x, y,
                      &(struct vectors){.what = ROTATE, .compute = type}, cosine, sine);
}
