/*
 * convert.c: from one format to another: dense and sparse, CSR and CSC and COO, and sorting.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { SOME_BYTES = 8 };

/* Writes the entries, which are in the matrix's order, into it. */
static void write_entries(const struct sparse_matrix *to, const struct entries *entries)
{
    bool by_columns = to->format == CSC;
    if (to->format == COO) {
        sparse_store_indices(to->rows_of, to->indices_type, entries->row, entries->count, to->base);
    } else {
        struct entries turned = *entries;
        if (by_columns) {
            turned.rows = entries->cols;
            turned.row = entries->col;
        }
        int64_t *offsets = sparse_row_offsets(&turned);
        sparse_store_indices(to->offsets, to->offsets_type, offsets, turned.rows + 1, to->base);
        free(offsets);
    }
    sparse_store_indices(to->indices, to->indices_type, by_columns ? entries->row : entries->col,
                         entries->count, to->base);
    if (entries->value)
        sparse_store(to->values, to->type, entries->value, entries->count);
}

/* Dense and sparse ----------------------------------------------------------------------------- */

struct conversion {
    struct sparse_matrix sparse;
    struct dense_matrix dense;
    int64_t *count; /* only count them; the call waits */
};

static void run_to_dense(void *data)
{
    const struct conversion *c = data;
    struct entries entries;
    if (!sparse_entries(&c->sparse, 0, true, &entries))
        return;
    size_t room = (size_t)c->dense.rows * (size_t)c->dense.cols + 1;
    struct number *values = lk_alloc_zeroed(room * sizeof *values);
    for (int64_t i = 0; i < entries.count; i++) {
        struct number *to = &values[entries.row[i] * c->dense.cols + entries.col[i]];
        *to = number_add(*to, entries.value[i]);
    }
    sparse_dense_store(&c->dense, 0, values);
    free(values);
    sparse_entries_free(&entries);
}

static void run_to_sparse(void *data)
{
    const struct conversion *c = data;
    int64_t rows = c->dense.rows, cols = c->dense.cols;
    struct number *values = sparse_dense(&c->dense, 0);
    if (!values)
        return;
    size_t room = (size_t)rows * (size_t)cols + 1;
    struct entries entries = {.rows = rows,
                              .cols = cols,
                              .row = lk_alloc(room * sizeof *entries.row),
                              .col = lk_alloc(room * sizeof *entries.col),
                              .value = lk_alloc(room * sizeof *entries.value)};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if (!number_is_zero(values[i * cols + j])) {
                entries.row[entries.count] = i;
                entries.col[entries.count] = j;
                entries.value[entries.count++] = values[i * cols + j];
            }
    if (c->count) {
        *c->count = entries.count;
    } else if (entries.count != c->sparse.count) {
        lk_library_fail("the dense matrix has another number of entries than the sparse one");
    } else {
        if (c->sparse.format == CSC)
            sparse_entries_sort(&entries, true, false, NULL);
        write_entries(&c->sparse, &entries);
    }
    free(values);
    sparse_entries_free(&entries);
}

static int find_conversion(struct conversion *conversion, struct context *context_out, void *handle,
                           const void *sparse_handle, const void *dense_handle)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(sparse, sparse_handle, KIND_SPARSE_MATRIX, sparse);
    FIND(dense, dense_handle, KIND_DENSE_MATRIX, dense);
    if (sparse->rows != dense->rows || sparse->cols != dense->cols)
        return SPARSE_INVALID_VALUE;
    *context_out = *context;
    *conversion = (struct conversion){*sparse, *dense, NULL};
    return SPARSE_SUCCESS;
}

static struct sparse_cost conversion_cost(const struct conversion *c)
{
    return (struct sparse_cost){0,
                                sparse_bytes(&c->sparse) +
                                    (double)(c->dense.rows * c->dense.cols) *
                                        (double)sparse_type_size(c->dense.type),
                                c->dense.type};
}

static int answer_size(int status, size_t *size)
{
    if (status == SPARSE_SUCCESS && !size)
        return SPARSE_INVALID_VALUE;
    if (status == SPARSE_SUCCESS)
        *size = SOME_BYTES;
    return status;
}

API(cusparseSparseToDense_bufferSize, void *handle, const void *sparse, void *dense, int algorithm,
    size_t *size)
{
    struct conversion conversion;
    struct context context;
    (void)algorithm;
    return answer_size(find_conversion(&conversion, &context, handle, sparse, dense), size);
}

API(cusparseSparseToDense, void *handle, const void *sparse, void *dense, int algorithm,
    void *buffer)
{
    struct conversion conversion;
    struct context context;
    (void)algorithm, (void)buffer;
    int status = find_conversion(&conversion, &context, handle, sparse, dense);
    return status ? status
                  : sparse_call(&context, "cusparseSparseToDense", run_to_dense, &conversion,
                                sizeof conversion, conversion_cost(&conversion));
}

API(cusparseDenseToSparse_bufferSize, void *handle, const void *dense, void *sparse, int algorithm,
    size_t *size)
{
    return cusparseSparseToDense_bufferSize(handle, sparse, (void *)dense, algorithm, size);
}

API(cusparseDenseToSparse_analysis, void *handle, const void *dense, void *sparse, int algorithm,
    void *buffer)
{
    struct conversion conversion;
    struct context context;
    int64_t count = 0;
    (void)algorithm, (void)buffer;
    int status = find_conversion(&conversion, &context, handle, sparse, dense);
    if (status != SPARSE_SUCCESS)
        return status;
    conversion.count = &count;
    status = sparse_call_now(&context, "cusparseDenseToSparse_analysis", run_to_sparse, &conversion,
                             sizeof conversion, conversion_cost(&conversion));
    FIND(matrix, sparse, KIND_SPARSE_MATRIX, sparse);
    if (status == SPARSE_SUCCESS)
        matrix->count = count;
    return status;
}

API(cusparseDenseToSparse_convert, void *handle, const void *dense, void *sparse, int algorithm,
    void *buffer)
{
    struct conversion conversion;
    struct context context;
    (void)algorithm, (void)buffer;
    int status = find_conversion(&conversion, &context, handle, sparse, dense);
    return status ? status
                  : sparse_call(&context, "cusparseDenseToSparse_convert", run_to_sparse,
                                &conversion, sizeof conversion, conversion_cost(&conversion));
}

/* Offsets and rows ----------------------------------------------------------------------------- */

struct lines {
    const int *from;
    int *to;
    int count, lines, base;
};

static void run_expand(void *data)
{
    const struct lines *l = data;
    int64_t *offsets = sparse_load_indices(l->from, INDEX_32, l->lines + 1, l->base);
    if (!offsets)
        return;
    int64_t *rows = lk_alloc_zeroed(((size_t)l->count + 1) * sizeof *rows);
    for (int64_t i = 0; i < l->lines; i++)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            if (k >= 0 && k < l->count)
                rows[k] = i;
    sparse_store_indices(l->to, INDEX_32, rows, l->count, l->base);
    free(offsets);
    free(rows);
}

static void run_compress(void *data)
{
    const struct lines *l = data;
    int64_t *rows = sparse_load_indices(l->from, INDEX_32, l->count, l->base);
    if (!rows)
        return;
    int64_t *offsets = lk_alloc_zeroed(((size_t)l->lines + 1) * sizeof *offsets);
    bool fine = true;
    for (int64_t i = 0; i < l->count && fine; i++) {
        fine = rows[i] >= 0 && rows[i] < l->lines;
        if (fine)
            offsets[rows[i] + 1]++;
    }
    for (int64_t i = 0; i < l->lines; i++)
        offsets[i + 1] += offsets[i];
    if (fine)
        sparse_store_indices(l->to, INDEX_32, offsets, l->lines + 1, l->base);
    else
        lk_library_fail("an index lies outside the matrix");
    free(rows);
    free(offsets);
}

static int call_lines(void *handle, const char *name, void (*run)(void *), struct lines lines)
{
    FIND(context, handle, KIND_CONTEXT, context);
    if (lines.count < 0 || lines.lines < 0 || lines.base < 0 || lines.base > 1)
        return SPARSE_INVALID_VALUE;
    double bytes = 4.0 * (lines.count + (double)lines.lines);
    return sparse_call(context, name, run, &lines, sizeof lines,
                       (struct sparse_cost){0, bytes, TYPE_F32});
}

API(cusparseXcsr2coo, void *handle, const int *offsets, int count, int rows, int *to, int base)
{
    return call_lines(handle, "cusparseXcsr2coo", run_expand,
                      (struct lines){offsets, to, count, rows, base});
}

API(cusparseXcoo2csr, void *handle, const int *from, int count, int rows, int *offsets, int base)
{
    return call_lines(handle, "cusparseXcoo2csr", run_compress,
                      (struct lines){from, offsets, count, rows, base});
}

static void run_identity(void *data)
{
    const struct lines *l = data;
    int64_t *numbers = lk_alloc(((size_t)l->count + 1) * sizeof *numbers);
    for (int64_t i = 0; i < l->count; i++)
        numbers[i] = i;
    sparse_store_indices(l->to, INDEX_32, numbers, l->count, 0);
    free(numbers);
}

API(cusparseCreateIdentityPermutation, void *handle, int count, int *to)
{
    return call_lines(handle, "cusparseCreateIdentityPermutation", run_identity,
                      (struct lines){.to = to, .count = count});
}

/* Sorting -------------------------------------------------------------------------------------- */

struct sorting {
    struct sparse_matrix matrix;
    bool by_columns;
    int *permutation; /* NULL: not wanted */
};

/* Sorting by coordinates needs no sizes, and NVIDIA's library looks at none: they grow as far as
 * the indices go. */
static void widen(int64_t *size, const void *indices, int64_t count)
{
    const int64_t most = 1 << 26;
    int64_t *numbers = sparse_load_indices(indices, INDEX_32, count, 0);
    for (int64_t i = 0; numbers && i < count; i++)
        if (numbers[i] >= *size && numbers[i] < most)
            *size = numbers[i] + 1;
    free(numbers);
}

static void run_sort(void *data)
{
    struct sorting *s = data;
    struct entries entries;
    if (s->matrix.format == COO) {
        widen(&s->matrix.rows, s->matrix.rows_of, s->matrix.count);
        widen(&s->matrix.cols, s->matrix.indices, s->matrix.count);
    }
    if (!sparse_entries(&s->matrix, 0, false, &entries))
        return;
    int64_t count = entries.count;
    int64_t *place = lk_alloc(((size_t)count + 1) * sizeof *place);
    sparse_entries_sort(&entries, s->by_columns, true, place);
    if (s->permutation) {
        int64_t *old = sparse_load_indices(s->permutation, INDEX_32, count, 0);
        for (int64_t i = 0; old && i < count; i++)
            place[i] = old[place[i]];
        if (old)
            sparse_store_indices(s->permutation, INDEX_32, place, count, 0);
        free(old);
    }
    write_entries(&s->matrix, &entries);
    free(place);
    sparse_entries_free(&entries);
}

/* lines: rows or columns of entries (COO), or offsets. */
static int sort(void *handle, const char *name, enum sparse_format format, bool by_columns, int m,
                int n, int count, int base, const int *lines, int *indices, int *permutation)
{
    FIND(context, handle, KIND_CONTEXT, context);
    struct sorting sorting = {.matrix = {.format = format,
                                         .rows = m,
                                         .cols = n,
                                         .count = count,
                                         .indices = indices,
                                         .offsets_type = INDEX_32,
                                         .indices_type = INDEX_32,
                                         .base = base,
                                         .batch = 1},
                              .by_columns = by_columns,
                              .permutation = permutation};
    if (m < 0 || n < 0 || count < 0)
        return SPARSE_INVALID_VALUE;
    *(format == COO ? &sorting.matrix.rows_of : &sorting.matrix.offsets) = (void *)lines;
    return sparse_call(context, name, run_sort, &sorting, sizeof sorting,
                       (struct sparse_cost){0, 12.0 * 4 * count, TYPE_F32});
}

static int base_of(const void *description)
{
    const union sparse_data *data = sparse_find(description, KIND_DESCRIPTION);
    return data ? data->description.base : -1;
}

#define SORT_COMPRESSED(name, format, by_columns)                                                  \
    API(name, void *handle, int m, int n, int count, void *description, const int *offsets,        \
        int *indices, int *permutation, void *buffer)                                              \
    {                                                                                              \
        int base = base_of(description);                                                           \
        (void)buffer;                                                                              \
        if (base < 0)                                                                              \
            return SPARSE_INVALID_VALUE;                                                           \
        return sort(handle, #name, format, by_columns, m, n, count, base, offsets, indices,        \
                    permutation);                                                                  \
    }
SORT_COMPRESSED(cusparseXcsrsort, CSR, false)
SORT_COMPRESSED(cusparseXcscsort, CSC, true)

#define SORT_COORDINATES(name, by_columns)                                                         \
    API(name, void *handle, int m, int n, int count, int *rows, int *cols, int *permutation,       \
        void *buffer)                                                                              \
    {                                                                                              \
        (void)buffer;                                                                              \
        return sort(handle, #name, COO, by_columns, m, n, count, 0, rows, cols, permutation);      \
    }
SORT_COORDINATES(cusparseXcoosortByRow, false)
SORT_COORDINATES(cusparseXcoosortByColumn, true)

#define SORT_SIZE(name)                                                                            \
    API(name, void *handle, int m, int n, int count, const int *a, const int *b, size_t *size)     \
    {                                                                                              \
        (void)m, (void)n, (void)count, (void)a, (void)b;                                           \
        return answer_size(                                                                        \
            sparse_find(handle, KIND_CONTEXT) ? SPARSE_SUCCESS : SPARSE_NOT_INITIALIZED, size);    \
    }
SORT_SIZE(cusparseXcsrsort_bufferSizeExt)
SORT_SIZE(cusparseXcscsort_bufferSizeExt)
SORT_SIZE(cusparseXcoosort_bufferSizeExt)

/* CSR to CSC ----------------------------------------------------------------------------------- */

struct turning {
    struct sparse_matrix from, to;
    bool values;
};

static void run_turn(void *data)
{
    const struct turning *t = data;
    struct entries entries;
    if (!sparse_entries(&t->from, 0, t->values, &entries))
        return;
    sparse_entries_sort(&entries, true, false, NULL);
    write_entries(&t->to, &entries);
    sparse_entries_free(&entries);
}

API(cusparseCsr2cscEx2, void *handle, int m, int n, int count, const void *values,
    const int *offsets, const int *indices, void *to_values, int *to_offsets, int *to_indices,
    int type, int action, int base, int algorithm, void *buffer)
{
    FIND(context, handle, KIND_CONTEXT, context);
    (void)algorithm, (void)buffer;
    struct sparse_matrix from = {.format = CSR,
                                 .rows = m,
                                 .cols = n,
                                 .count = count,
                                 .offsets = (void *)offsets,
                                 .indices = (void *)indices,
                                 .values = (void *)values,
                                 .offsets_type = INDEX_32,
                                 .indices_type = INDEX_32,
                                 .base = base,
                                 .type = type,
                                 .batch = 1};
    struct turning turning = {from, from, action == 1};
    turning.to.format = CSC;
    turning.to.offsets = to_offsets;
    turning.to.indices = to_indices;
    turning.to.values = to_values;
    if (m < 0 || n < 0 || count < 0 || base < 0 || base > 1 || action < 0 || action > 1)
        return SPARSE_INVALID_VALUE;
    if (!sparse_type_size(type))
        return SPARSE_NOT_SUPPORTED;
    return sparse_call(context, "cusparseCsr2cscEx2", run_turn, &turning, sizeof turning,
                       (struct sparse_cost){0, 2 * sparse_bytes(&from), type});
}

API(cusparseCsr2cscEx2_bufferSize, void *handle, int m, int n, int count, const void *values,
    const int *offsets, const int *indices, void *to_values, int *to_offsets, int *to_indices,
    int type, int action, int base, int algorithm, size_t *size)
{
    (void)values, (void)to_values, (void)to_offsets, (void)to_indices;
    (void)type, (void)action, (void)base, (void)algorithm;
    return cusparseXcsrsort_bufferSizeExt(handle, m, n, count, offsets, indices, size);
}

/* Counting --------------------------------------------------------------------------------------
 */

struct counting {
    struct dense_matrix a;
    bool by_columns, to_device;
    int *each, *total;
};

static void run_count(void *data)
{
    const struct counting *c = data;
    int64_t lines = c->by_columns ? c->a.cols : c->a.rows, total = 0;
    struct number *values = sparse_dense(&c->a, 0);
    if (!values)
        return;
    int64_t *each = lk_alloc_zeroed(((size_t)lines + 1) * sizeof *each);
    for (int64_t i = 0; i < c->a.rows; i++)
        for (int64_t j = 0; j < c->a.cols; j++)
            each[c->by_columns ? j : i] += !number_is_zero(values[i * c->a.cols + j]);
    for (int64_t i = 0; i < lines; i++)
        total += each[i];
    sparse_store_indices(c->each, INDEX_32, each, lines, 0);
    if (c->to_device)
        sparse_store_indices(c->total, INDEX_32, &total, 1, 0);
    else
        *c->total = (int)total;
    free(values);
    free(each);
}

static int count(void *handle, const char *name, int direction, int m, int n, const void *values,
                 int ld, int *each, int *total, int type)
{
    FIND(context, handle, KIND_CONTEXT, context);
    struct counting counting = {
        {m, n, ld, type, ORDER_COL, (void *)values, 1, 0}, direction == 1, true, each, total};
    if (m < 0 || n < 0 || ld < m || direction < 0 || direction > 1 || !total)
        return SPARSE_INVALID_VALUE;
    struct sparse_cost cost = {0, (double)m * n * (double)sparse_type_size(type), type};
    counting.to_device = context->device_scalars;
    return context->device_scalars
               ? sparse_call(context, name, run_count, &counting, sizeof counting, cost)
               : sparse_call_now(context, name, run_count, &counting, sizeof counting, cost);
}

#define COUNT(letter, type)                                                                        \
    API(cusparse##letter##nnz, void *handle, int direction, int m, int n, void *description,       \
        const void *values, int ld, int *each, int *total)                                         \
    {                                                                                              \
        (void)description;                                                                         \
        return count(handle, "cusparse" #letter "nnz", direction, m, n, values, ld, each, total,   \
                     type);                                                                        \
    }
COUNT(S, TYPE_F32)
COUNT(D, TYPE_F64)
COUNT(C, TYPE_C32)
COUNT(Z, TYPE_C64)
