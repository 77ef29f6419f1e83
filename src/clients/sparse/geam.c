/*
 * geam.c: sums of CSR matrices by the older calls, which take them as pointers: csrgeam2.
 */
#include "clients/sparse/combine.h"

#include <stdlib.h>

enum { SOME_BYTES = 8 };

struct pointers {
    const void *description;
    int count;
    const void *values;
    const int *offsets, *indices;
};

static bool from_pointers(struct sparse_matrix *matrix, int rows, int cols,
                          const struct pointers *pointers, int type)
{
    const union sparse_data *description = sparse_find(pointers->description, KIND_DESCRIPTION);
    if (!description || rows < 0 || cols < 0 || pointers->count < 0)
        return false;
    *matrix = (struct sparse_matrix){.format = CSR,
                                     .rows = rows,
                                     .cols = cols,
                                     .count = pointers->count,
                                     .offsets = (void *)pointers->offsets,
                                     .indices = (void *)pointers->indices,
                                     .values = (void *)pointers->values,
                                     .offsets_type = INDEX_32,
                                     .indices_type = INDEX_32,
                                     .base = description->description.base,
                                     .type = type,
                                     .batch = 1};
    return true;
}

API(cusparseXcsrgeam2Nnz, void *handle, int m, int n, void *descr_a, int nnz_a,
    const int *offsets_a, const int *indices_a, void *descr_b, int nnz_b, const int *offsets_b,
    const int *indices_b, void *descr_c, int *offsets_c, int *nnz_c, void *buffer)
{
    FIND(context, handle, KIND_CONTEXT, context);
    (void)buffer;
    struct combine combine = {.is_sum = true, .writes_offsets = true};
    struct entries *result = NULL;
    if (!nnz_c ||
        !from_pointers(&combine.a, m, n,
                       &(struct pointers){descr_a, nnz_a, NULL, offsets_a, indices_a}, TYPE_F32) ||
        !from_pointers(&combine.b, m, n,
                       &(struct pointers){descr_b, nnz_b, NULL, offsets_b, indices_b}, TYPE_F32) ||
        !from_pointers(&combine.c, m, n, &(struct pointers){descr_c, 0, NULL, offsets_c, NULL},
                       TYPE_F32))
        return SPARSE_INVALID_VALUE;
    combine.computed = &result;
    combine.count = context->device_scalars ? nnz_c : NULL;
    int status = sparse_call_now(context, "cusparseXcsrgeam2Nnz", sparse_combine, &combine,
                                 sizeof combine, sparse_combine_cost(&combine));
    if (status != SPARSE_SUCCESS || !result)
        return status ? status : SPARSE_EXECUTION_FAILED;
    if (!context->device_scalars)
        *nnz_c = (int)result->count;
    sparse_entries_free(result);
    free(result);
    return SPARSE_SUCCESS;
}

#define GEAM2_ARGUMENTS                                                                            \
    void *handle, int m, int n, const void *alpha, void *descr_a, int nnz_a, const void *values_a, \
        const int *offsets_a, const int *indices_a, const void *beta, void *descr_b, int nnz_b,    \
        const void *values_b, const int *offsets_b, const int *indices_b, void *descr_c,           \
        void *values_c, int *offsets_c, int *indices_c

/* The caller's nnzC: C's offsets are there already, and say how many entries it has. */
static void run_geam2(void *data)
{
    struct combine *c = data;
    int64_t *offsets = sparse_load_indices(c->c.offsets, INDEX_32, c->c.rows + 1, c->c.base);
    if (!offsets)
        return;
    c->c.count = offsets[c->c.rows];
    free(offsets);
    sparse_combine(c);
}

static int geam2(const char *name, int type, GEAM2_ARGUMENTS)
{
    FIND(context, handle, KIND_CONTEXT, context);
    struct combine combine = {.is_sum = true, .writes_entries = true, .writes_values = true};
    if (!alpha || !beta ||
        !from_pointers(&combine.a, m, n,
                       &(struct pointers){descr_a, nnz_a, values_a, offsets_a, indices_a}, type) ||
        !from_pointers(&combine.b, m, n,
                       &(struct pointers){descr_b, nnz_b, values_b, offsets_b, indices_b}, type) ||
        !from_pointers(&combine.c, m, n,
                       &(struct pointers){descr_c, 0, values_c, offsets_c, indices_c}, type))
        return SPARSE_INVALID_VALUE;
    combine.alpha = sparse_scalar(context, alpha, type);
    combine.beta = sparse_scalar(context, beta, type);
    return sparse_call(context, name, run_geam2, &combine, sizeof combine,
                       sparse_combine_cost(&combine));
}

#define GEAM2(letter, type)                                                                        \
    API(cusparse##letter##csrgeam2, GEAM2_ARGUMENTS, void *buffer)                                 \
    {                                                                                              \
        (void)buffer;                                                                              \
        return geam2("cusparse" #letter "csrgeam2", type, handle, m, n, alpha, descr_a, nnz_a,     \
                     values_a, offsets_a, indices_a, beta, descr_b, nnz_b, values_b, offsets_b,    \
                     indices_b, descr_c, values_c, offsets_c, indices_c);                          \
    }                                                                                              \
    API(cusparse##letter##csrgeam2_bufferSizeExt, GEAM2_ARGUMENTS, size_t *size)                   \
    {                                                                                              \
        (void)m, (void)n, (void)alpha, (void)descr_a, (void)nnz_a, (void)values_a;                 \
        (void)offsets_a, (void)indices_a, (void)beta, (void)descr_b, (void)nnz_b, (void)values_b;  \
        (void)offsets_b, (void)indices_b, (void)descr_c, (void)values_c, (void)offsets_c;          \
        (void)indices_c;                                                                           \
        if (size)                                                                                  \
            *size = SOME_BYTES;                                                                    \
        return !sparse_find(handle, KIND_CONTEXT) ? SPARSE_NOT_INITIALIZED                         \
               : size                             ? SPARSE_SUCCESS                                 \
                                                  : SPARSE_INVALID_VALUE;                                                      \
    }
GEAM2(S, TYPE_F32)
GEAM2(D, TYPE_F64)
GEAM2(C, TYPE_C32)
GEAM2(Z, TYPE_C64)
