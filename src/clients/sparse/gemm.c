/*
 * gemm.c: sparse results: the product of two sparse matrices (SpGEMM) and their sum (SpGEAM; geam.c
 * has the older calls). A result is computed once, as entries sorted by row and column, and kept in
 * the call's descriptor until the program has allocated room for it.
 */
#include "clients/sparse/combine.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { SOME_BYTES = 8 };

/* Lists that grow ------------------------------------------------------------------------------ */

static void append(struct entries *entries, size_t *capacity, int64_t row, int64_t col,
                   struct number value)
{
    size_t count = (size_t)entries->count;
    if (count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 64;
        entries->row = lk_realloc(entries->row, *capacity * sizeof *entries->row);
        entries->col = lk_realloc(entries->col, *capacity * sizeof *entries->col);
        entries->value = lk_realloc(entries->value, *capacity * sizeof *entries->value);
    }
    entries->row[count] = row;
    entries->col[count] = col;
    entries->value[count] = value;
    entries->count++;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* One row of a result, wherever its terms come from. */
struct row {
    struct number *sum; /* [cols] */
    int64_t *seen;      /* [cols]: the last row that has a term there, plus 1 */
    int64_t *cols;      /* of this row */
    int64_t count;
};

static void row_open(struct row *row, int64_t cols)
{
    *row = (struct row){.sum = lk_alloc(((size_t)cols + 1) * sizeof *row->sum),
                        .seen = lk_alloc_zeroed(((size_t)cols + 1) * sizeof *row->seen),
                        .cols = lk_alloc(((size_t)cols + 1) * sizeof *row->cols)};
}

static void row_close(struct row *row)
{
    free(row->sum);
    free(row->seen);
    free(row->cols);
}

static void row_add(struct row *row, int64_t number, int64_t col, struct number term)
{
    if (row->seen[col] == number + 1) {
        row->sum[col] = number_add(row->sum[col], term);
        return;
    }
    row->seen[col] = number + 1;
    row->sum[col] = term;
    row->cols[row->count++] = col;
}

static void row_end(struct row *row, int64_t number, struct entries *result, size_t *capacity)
{
    qsort(row->cols, (size_t)row->count, sizeof *row->cols, by_number);
    for (int64_t i = 0; i < row->count; i++)
        append(result, capacity, number, row->cols[i], row->sum[row->cols[i]]);
    row->count = 0;
}

/* The two operations; a and b are sorted by rows. ---------------------------------------------- */

static void product(const struct entries *a, const struct entries *b, struct number alpha,
                    struct entries *result)
{
    int64_t *begins_a = sparse_row_offsets(a), *begins_b = sparse_row_offsets(b);
    size_t capacity = 0;
    struct row row;
    *result = (struct entries){
        .rows = a->rows, .cols = b->cols, .is_complex = a->is_complex || b->is_complex};
    row_open(&row, b->cols);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t k = begins_a[i]; k < begins_a[i + 1]; k++) {
            struct number factor = number_times(alpha, a->value[k], result->is_complex);
            for (int64_t j = begins_b[a->col[k]]; j < begins_b[a->col[k] + 1]; j++)
                row_add(&row, i, b->col[j], number_times(factor, b->value[j], result->is_complex));
        }
        row_end(&row, i, result, &capacity);
    }
    row_close(&row);
    free(begins_a);
    free(begins_b);
}

static void sum(const struct entries *a, const struct entries *b, struct number alpha,
                struct number beta, struct entries *result)
{
    int64_t *begins_a = sparse_row_offsets(a), *begins_b = sparse_row_offsets(b);
    size_t capacity = 0;
    struct row row;
    *result = (struct entries){
        .rows = a->rows, .cols = a->cols, .is_complex = a->is_complex || b->is_complex};
    row_open(&row, a->cols);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t k = begins_a[i]; k < begins_a[i + 1]; k++)
            row_add(&row, i, a->col[k], number_times(alpha, a->value[k], result->is_complex));
        for (int64_t k = begins_b[i]; k < begins_b[i + 1]; k++)
            row_add(&row, i, b->col[k], number_times(beta, b->value[k], result->is_complex));
        row_end(&row, i, result, &capacity);
    }
    row_close(&row);
    free(begins_a);
    free(begins_b);
}

/* Calls ---------------------------------------------------------------------------------------- */

/* With values if there are any: a pattern has none. */
static bool read_sorted(const struct sparse_matrix *matrix, enum sparse_op op,
                        struct entries *entries)
{
    if (!sparse_entries(matrix, 0, matrix->values != NULL, entries))
        return false;
    if (!entries->value)
        entries->value = lk_alloc_zeroed(((size_t)entries->count + 1) * sizeof *entries->value);
    sparse_entries_turn(entries, op);
    sparse_entries_sort(entries, false, true, NULL);
    return true;
}

static bool compute(const struct combine *c, struct number alpha, struct number beta,
                    struct entries *result)
{
    struct entries a, b;
    if (!read_sorted(&c->a, c->op_a, &a))
        return false;
    bool fine = read_sorted(&c->b, c->op_b, &b);
    if (fine && c->is_sum)
        sum(&a, &b, alpha, beta, result);
    else if (fine)
        product(&a, &b, alpha, result);
    if (fine)
        sparse_entries_free(&b);
    sparse_entries_free(&a);
    return fine;
}

static void write_result(const struct combine *c, const struct entries *result, struct number beta)
{
    const struct sparse_matrix *to = &c->c;
    int64_t *offsets = sparse_row_offsets(result);
    if (c->writes_offsets)
        sparse_store_indices(to->offsets, to->offsets_type, offsets, result->rows + 1, to->base);
    free(offsets);
    if (c->writes_entries)
        sparse_store_indices(to->indices, to->indices_type, result->col, result->count, to->base);
    if (!c->writes_values)
        return;
    if (c->keeps_c && !number_is_zero(beta)) {
        struct number *old = sparse_load(to->values, to->type, result->count);
        for (int64_t i = 0; old && i < result->count; i++)
            result->value[i] =
                number_add(result->value[i], number_times(beta, old[i], result->is_complex));
        free(old);
    }
    sparse_store(to->values, to->type, result->value, result->count);
}

void sparse_combine(void *data)
{
    struct combine *c = data;
    struct number alpha, beta;
    struct entries made = {0}, *result = c->result;
    if (!sparse_scalar_read(&c->alpha, &alpha) || !sparse_scalar_read(&c->beta, &beta))
        return;
    if (!result) {
        if (!compute(c, alpha, beta, &made))
            return;
        result = &made;
    }
    if (result->count == c->c.count || c->computed || !c->writes_entries)
        write_result(c, result, beta);
    else
        lk_library_fail("the result has another number of entries than its matrix");
    if (c->count) {
        int64_t count = result->count;
        sparse_store_indices(c->count, INDEX_32, &count, 1, 0);
    }
    if (c->computed) { /* the call waits for it */
        *c->computed = lk_alloc(sizeof **c->computed);
        **c->computed = *result;
    } else if (result == &made) {
        sparse_entries_free(&made);
    }
}

struct sparse_cost sparse_combine_cost(const struct combine *c)
{
    /* A guess: as many terms a row of B as it has on average. */
    double rows = (double)(c->b.rows ? c->b.rows : 1);
    double terms = c->is_sum ? (double)(c->a.count + c->b.count)
                             : (double)c->a.count * ((double)c->b.count / rows + 1);
    return (struct sparse_cost){
        2 * terms, sparse_bytes(&c->a) + sparse_bytes(&c->b) + sparse_bytes(&c->c), c->c.type};
}

/* What the first part of every call finds; 0 or the status to return. */
static int begin(struct combine *c, void *handle, int op_a, int op_b, const void *a_handle,
                 const void *b_handle, const void *c_handle, struct context *context_out)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(a, a_handle, KIND_SPARSE_MATRIX, sparse);
    FIND(b, b_handle, KIND_SPARSE_MATRIX, sparse);
    FIND(result, c_handle, KIND_SPARSE_MATRIX, sparse);
    *context_out = *context;
    c->a = *a;
    c->b = *b;
    c->c = *result;
    c->op_a = (enum sparse_op)op_a;
    c->op_b = (enum sparse_op)op_b;
    int64_t rows = op_a ? a->cols : a->rows, inner = op_a ? a->rows : a->cols;
    int64_t b_rows = op_b ? b->cols : b->rows, cols = op_b ? b->rows : b->cols;
    bool fits = c->is_sum ? rows == b_rows && inner == cols : inner == b_rows;
    if (!fits || rows != result->rows || cols != result->cols)
        return SPARSE_INVALID_VALUE;
    if (result->format != CSR)
        return sparse_refuse(c->is_sum ? "cusparseSpGEAM" : "cusparseSpGEMM",
                             " into another format than CSR");
    return SPARSE_SUCCESS;
}

/* Computes the result now, into the descriptor; C has as many entries from then on. */
static int compute_now(struct context *context, const char *name, struct combine *c,
                       void *descriptor, void *c_handle)
{
    FIND(kept, descriptor, KIND_PRODUCT, product);
    struct entries *result = NULL;
    struct combine own = *c;
    own.computed = &result;
    int status =
        sparse_call_now(context, name, sparse_combine, &own, sizeof own, sparse_combine_cost(&own));
    if (status != SPARSE_SUCCESS)
        return status;
    if (!result)
        return SPARSE_EXECUTION_FAILED;
    if (*kept) {
        sparse_entries_free(*kept);
        free(*kept);
    }
    *kept = result;
    FIND(matrix, c_handle, KIND_SPARSE_MATRIX, sparse);
    matrix->count = result->count;
    return SPARSE_SUCCESS;
}

/* Writes what the descriptor has. The call waits: the descriptor may be destroyed after it. */
static int write_now(struct context *context, const char *name, struct combine *c, void *descriptor)
{
    FIND(kept, descriptor, KIND_PRODUCT, product);
    if (!*kept)
        return SPARSE_INVALID_VALUE;
    c->result = *kept;
    return sparse_call_now(context, name, sparse_combine, c, sizeof *c,
                           (struct sparse_cost){0, sparse_bytes(&c->c), c->c.type});
}

static int take_scalars(struct combine *combine, struct context *context, const void *alpha,
                        const void *beta, int compute_type, void *descriptor)
{
    if (!sparse_find(descriptor, KIND_PRODUCT) || !alpha || !beta)
        return SPARSE_INVALID_VALUE;
    combine->alpha = sparse_scalar(context, alpha, compute_type);
    combine->beta = sparse_scalar(context, beta, compute_type);
    return SPARSE_SUCCESS;
}

DESCRIPTOR(cusparseSpGEMM, KIND_PRODUCT)
DESCRIPTOR(cusparseSpGEAM, KIND_PRODUCT)

/* SpGEMM --------------------------------------------------------------------------------------- */

#define GEMM_ARGUMENTS                                                                             \
    void *handle, int op_a, int op_b, const void *alpha, const void *a, const void *b,             \
        const void *beta, void *c, int compute_type, int algorithm, void *descriptor

static int gemm_begin(struct combine *combine, struct context *context, GEMM_ARGUMENTS)
{
    (void)algorithm;
    int status = begin(combine, handle, op_a, op_b, a, b, c, context);
    return status != SPARSE_SUCCESS
               ? status
               : take_scalars(combine, context, alpha, beta, compute_type, descriptor);
}

API(cusparseSpGEMM_workEstimation, GEMM_ARGUMENTS, size_t *size, void *buffer)
{
    struct combine combine = {0};
    struct context context;
    int status = gemm_begin(&combine, &context, handle, op_a, op_b, alpha, a, b, beta, c,
                            compute_type, algorithm, descriptor);
    (void)buffer;
    if (status == SPARSE_SUCCESS && size)
        *size = SOME_BYTES;
    return status == SPARSE_SUCCESS && !size ? SPARSE_INVALID_VALUE : status;
}

API(cusparseSpGEMM_estimateMemory, GEMM_ARGUMENTS, float part, size_t *size3, void *buffer3,
    size_t *size2)
{
    (void)part, (void)buffer3;
    if (size2)
        *size2 = SOME_BYTES;
    return cusparseSpGEMM_workEstimation(handle, op_a, op_b, alpha, a, b, beta, c, compute_type,
                                         algorithm, descriptor, size3, NULL);
}

API(cusparseSpGEMM_getNumProducts, void *descriptor, int64_t *count)
{
    FIND(kept, descriptor, KIND_PRODUCT, product);
    if (!count)
        return SPARSE_INVALID_VALUE;
    *count = *kept ? (*kept)->count : 0;
    return SPARSE_SUCCESS;
}

API(cusparseSpGEMM_compute, GEMM_ARGUMENTS, size_t *size, void *buffer)
{
    struct combine combine = {0};
    struct context context;
    int status = gemm_begin(&combine, &context, handle, op_a, op_b, alpha, a, b, beta, c,
                            compute_type, algorithm, descriptor);
    if (status != SPARSE_SUCCESS || !size)
        return status ? status : SPARSE_INVALID_VALUE;
    if (!buffer) {
        *size = SOME_BYTES;
        return SPARSE_SUCCESS;
    }
    return compute_now(&context, "cusparseSpGEMM_compute", &combine, descriptor, c);
}

API(cusparseSpGEMM_copy, GEMM_ARGUMENTS)
{
    struct combine combine = {
        .writes_offsets = true, .writes_entries = true, .writes_values = true, .keeps_c = true};
    struct context context;
    int status = gemm_begin(&combine, &context, handle, op_a, op_b, alpha, a, b, beta, c,
                            compute_type, algorithm, descriptor);
    return status ? status : write_now(&context, "cusparseSpGEMM_copy", &combine, descriptor);
}

/* The same pattern many times: the pattern first, then values. */
API(cusparseSpGEMMreuse_workEstimation, void *handle, int op_a, int op_b, const void *a,
    const void *b, void *c, int algorithm, void *descriptor, size_t *size, void *buffer)
{
    struct combine combine = {0};
    struct context context;
    (void)algorithm, (void)buffer, (void)descriptor;
    int status = begin(&combine, handle, op_a, op_b, a, b, c, &context);
    if (status == SPARSE_SUCCESS && size)
        *size = SOME_BYTES;
    return status;
}

API(cusparseSpGEMMreuse_nnz, void *handle, int op_a, int op_b, const void *a, const void *b,
    void *c, int algorithm, void *descriptor, size_t *size2, void *buffer2, size_t *size3,
    void *buffer3, size_t *size4, void *buffer4)
{
    struct combine combine = {0};
    struct context context;
    (void)algorithm, (void)buffer2, (void)buffer3, (void)buffer4;
    int status = begin(&combine, handle, op_a, op_b, a, b, c, &context);
    if (status != SPARSE_SUCCESS)
        return status;
    if (!size2 || !size3 || !size4)
        return SPARSE_INVALID_VALUE;
    *size2 = *size3 = *size4 = SOME_BYTES;
    if (!buffer2 && !buffer3 && !buffer4)
        return SPARSE_SUCCESS;
    return compute_now(&context, "cusparseSpGEMMreuse_nnz", &combine, descriptor, c);
}

API(cusparseSpGEMMreuse_copy, void *handle, int op_a, int op_b, const void *a, const void *b,
    void *c, int algorithm, void *descriptor, size_t *size, void *buffer)
{
    struct combine combine = {.writes_offsets = true, .writes_entries = true};
    struct context context;
    (void)algorithm;
    int status = begin(&combine, handle, op_a, op_b, a, b, c, &context);
    if (status != SPARSE_SUCCESS || !size)
        return status ? status : SPARSE_INVALID_VALUE;
    *size = SOME_BYTES;
    return buffer ? write_now(&context, "cusparseSpGEMMreuse_copy", &combine, descriptor)
                  : SPARSE_SUCCESS;
}

API(cusparseSpGEMMreuse_compute, GEMM_ARGUMENTS)
{
    struct combine combine = {.writes_values = true, .keeps_c = true};
    struct context context;
    int status = gemm_begin(&combine, &context, handle, op_a, op_b, alpha, a, b, beta, c,
                            compute_type, algorithm, descriptor);
    return status ? status
                  : sparse_call(&context, "cusparseSpGEMMreuse_compute", sparse_combine, &combine,
                                sizeof combine, sparse_combine_cost(&combine));
}

/* SpGEAM --------------------------------------------------------------------------------------- */

#define GEAM_ARGUMENTS                                                                             \
    void *handle, int op_a, int op_b, const void *alpha, const void *a, const void *beta,          \
        const void *b, void *c, int compute_type, int algorithm, void *descriptor

API(cusparseSpGEAM_bufferSize, GEAM_ARGUMENTS, size_t *size)
{
    struct combine combine = {.is_sum = true};
    struct context context;
    (void)alpha, (void)beta, (void)compute_type, (void)algorithm, (void)descriptor;
    int status = begin(&combine, handle, op_a, op_b, a, b, c, &context);
    if (status == SPARSE_SUCCESS && size)
        *size = SOME_BYTES;
    return status == SPARSE_SUCCESS && !size ? SPARSE_INVALID_VALUE : status;
}

static int geam(struct combine *combine, struct context *context, GEAM_ARGUMENTS)
{
    (void)algorithm;
    combine->is_sum = true;
    int status = begin(combine, handle, op_a, op_b, a, b, c, context);
    return status != SPARSE_SUCCESS
               ? status
               : take_scalars(combine, context, alpha, beta, compute_type, descriptor);
}

API(cusparseSpGEAM_nnz, GEAM_ARGUMENTS, void *buffer)
{
    struct combine combine = {.writes_offsets = true};
    struct context context;
    (void)buffer;
    int status = geam(&combine, &context, handle, op_a, op_b, alpha, a, beta, b, c, compute_type,
                      algorithm, descriptor);
    return status ? status : compute_now(&context, "cusparseSpGEAM_nnz", &combine, descriptor, c);
}

API(cusparseSpGEAM, GEAM_ARGUMENTS, void *buffer)
{
    struct combine combine = {
        .writes_offsets = true, .writes_entries = true, .writes_values = true};
    struct context context;
    (void)buffer;
    int status = geam(&combine, &context, handle, op_a, op_b, alpha, a, beta, b, c, compute_type,
                      algorithm, descriptor);
    return status ? status
                  : sparse_call(&context, "cusparseSpGEAM", sparse_combine, &combine,
                                sizeof combine, sparse_combine_cost(&combine));
}
