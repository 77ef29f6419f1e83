/*
 * compress.c: csr2csr_compress: a CSR matrix without its entries that are not larger than a bound.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

struct compression {
    struct sparse_matrix from, to;
    double bound;
    int *each, *total; /* how many stay, of each row and of all; NULL: the matrix is written */
    bool to_device;
};

static void write_counts(const struct compression *c, const int64_t *offsets)
{
    int64_t rows = c->from.rows, total = offsets[rows];
    int64_t *each = lk_alloc(((size_t)rows + 1) * sizeof *each);
    for (int64_t i = 0; i < rows; i++)
        each[i] = offsets[i + 1] - offsets[i];
    sparse_store_indices(c->each, INDEX_32, each, rows, 0);
    if (c->to_device)
        sparse_store_indices(c->total, INDEX_32, &total, 1, 0);
    else
        *c->total = (int)total;
    free(each);
}

static void run_compress(void *data)
{
    struct compression *c = data;
    struct entries entries;
    int64_t *ends = sparse_load_indices((char *)c->from.offsets + (size_t)c->from.rows * 4,
                                        INDEX_32, 1, c->from.base);
    if (!ends)
        return;
    c->from.count = *ends; /* the first call is not told how many there are */
    free(ends);
    if (c->from.count < 0 || !sparse_entries(&c->from, 0, true, &entries))
        return;
    int64_t kept = 0;
    for (int64_t i = 0; i < entries.count; i++) {
        if (!(hypot(entries.value[i].re, entries.value[i].im) > c->bound))
            continue;
        entries.row[kept] = entries.row[i];
        entries.col[kept] = entries.col[i];
        entries.value[kept++] = entries.value[i];
    }
    entries.count = kept;
    int64_t *offsets = sparse_row_offsets(&entries);
    if (c->each) {
        write_counts(c, offsets);
    } else {
        sparse_store_indices(c->to.offsets, INDEX_32, offsets, c->to.rows + 1, c->to.base);
        sparse_store_indices(c->to.indices, INDEX_32, entries.col, kept, c->to.base);
        sparse_store(c->to.values, c->to.type, entries.value, kept);
    }
    free(offsets);
    sparse_entries_free(&entries);
}

static int compress(void *handle, const char *name, int m, int n, void *description,
                    struct compression *c, int type)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(described, description, KIND_DESCRIPTION, description);
    if (m < 0 || n < 0 || c->bound < 0 || (c->each && !c->total))
        return SPARSE_INVALID_VALUE;
    c->from.format = CSR;
    c->from.rows = m;
    c->from.cols = n;
    c->from.offsets_type = c->from.indices_type = INDEX_32;
    c->from.base = described->base;
    c->from.type = type;
    c->from.batch = 1;
    struct sparse_matrix to = c->from;
    to.offsets = c->to.offsets;
    to.indices = c->to.indices;
    to.values = c->to.values;
    c->to = to;
    c->to_device = context->device_scalars;
    struct sparse_cost cost = {0, 2 * sparse_bytes(&c->from), type};
    return c->each && !c->to_device
               ? sparse_call_now(context, name, run_compress, c, sizeof *c, cost)
               : sparse_call(context, name, run_compress, c, sizeof *c, cost);
}

#define COMPRESS(letter, type, value, bound_type, real)                                            \
    API(cusparse##letter##nnz_compress, void *handle, int m, void *description,                    \
        const value *values, const int *offsets, int *each, int *total, bound_type bound)          \
    {                                                                                              \
        struct compression c = {.bound = (double)real(bound), .each = each, .total = total};       \
        c.from.one_column = true;                                                                  \
        c.from.values = (void *)values;                                                            \
        c.from.offsets = (void *)offsets;                                                          \
        if (!each)                                                                                 \
            return SPARSE_INVALID_VALUE;                                                           \
        return compress(handle, "cusparse" #letter "nnz_compress", m, 1, description, &c, type);   \
    }                                                                                              \
    API(cusparse##letter##csr2csr_compress, void *handle, int m, int n, void *description,         \
        const value *values, const int *indices, const int *offsets, int count, const int *each,   \
        value *to_values, int *to_indices, int *to_offsets, bound_type bound)                      \
    {                                                                                              \
        struct compression c = {.bound = (double)real(bound)};                                     \
        (void)count, (void)each;                                                                   \
        c.from.values = (void *)values;                                                            \
        c.from.indices = (void *)indices;                                                          \
        c.from.offsets = (void *)offsets;                                                          \
        c.to.values = to_values;                                                                   \
        c.to.indices = to_indices;                                                                 \
        c.to.offsets = to_offsets;                                                                 \
        return compress(handle, "cusparse" #letter "csr2csr_compress", m, n, description, &c,      \
                        type);                                                                     \
    }
COMPRESS(S, TYPE_F32, float, float, )
COMPRESS(D, TYPE_F64, double, double, )
COMPRESS(C, TYPE_C32, void, float _Complex, crealf)
COMPRESS(Z, TYPE_C64, void, double _Complex, creal)
