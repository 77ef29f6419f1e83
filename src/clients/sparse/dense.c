/*
 * dense.c: descriptors of dense vectors and matrices, and how calls get into a stream.
 */
#include "clients/sparse/sparse.h"

#include <string.h>

static int make_dense(void **handle, enum sparse_kind kind, const struct dense_matrix *matrix)
{
    int64_t least = matrix->order == ORDER_ROW ? matrix->cols : matrix->rows;
    if (!handle || matrix->rows < 0 || matrix->cols < 0 || matrix->ld < least ||
        (matrix->order != ORDER_ROW && matrix->order != ORDER_COL))
        return SPARSE_INVALID_VALUE;
    if (!sparse_type_size(matrix->type))
        return SPARSE_NOT_SUPPORTED;
    *handle = sparse_new(kind, &(union sparse_data){.dense = *matrix});
    return *handle ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}

#define DENSE_MATRIX(name)                                                                         \
    API(name, void **handle, int64_t rows, int64_t cols, int64_t ld, const void *values, int type, \
        int order)                                                                                 \
    {                                                                                              \
        return make_dense(handle, KIND_DENSE_MATRIX,                                               \
                          &(struct dense_matrix){rows, cols, ld, type, (enum sparse_order)order,   \
                                                 (void *)values, 1, 0});                           \
    }
DENSE_MATRIX(cusparseCreateDnMat)
DENSE_MATRIX(cusparseCreateConstDnMat)

#define DENSE_VECTOR(name)                                                                         \
    API(name, void **handle, int64_t size, const void *values, int type)                           \
    {                                                                                              \
        return make_dense(                                                                         \
            handle, KIND_DENSE_VECTOR,                                                             \
            &(struct dense_matrix){size, 1, size, type, ORDER_COL, (void *)values, 1, 0});         \
    }
DENSE_VECTOR(cusparseCreateDnVec)
DENSE_VECTOR(cusparseCreateConstDnVec)

API(cusparseDestroyDnMat, const void *handle)
{
    return sparse_delete(handle, KIND_DENSE_MATRIX);
}

API(cusparseDestroyDnVec, const void *handle)
{
    return sparse_delete(handle, KIND_DENSE_VECTOR);
}

#define GET_DENSE_MATRIX(name)                                                                     \
    API(name, const void *handle, int64_t *rows, int64_t *cols, int64_t *ld, void **values,        \
        int *type, int *order)                                                                     \
    {                                                                                              \
        FIND(matrix, handle, KIND_DENSE_MATRIX, dense);                                            \
        if (!rows || !cols || !ld || !values || !type || !order)                                   \
            return SPARSE_INVALID_VALUE;                                                           \
        *rows = matrix->rows;                                                                      \
        *cols = matrix->cols;                                                                      \
        *ld = matrix->ld;                                                                          \
        *values = matrix->values;                                                                  \
        *type = matrix->type;                                                                      \
        *order = (int)matrix->order;                                                               \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_DENSE_MATRIX(cusparseDnMatGet)
GET_DENSE_MATRIX(cusparseConstDnMatGet)

#define GET_DENSE_VECTOR(name)                                                                     \
    API(name, const void *handle, int64_t *size, void **values, int *type)                         \
    {                                                                                              \
        FIND(vector, handle, KIND_DENSE_VECTOR, dense);                                            \
        if (!size || !values || !type)                                                             \
            return SPARSE_INVALID_VALUE;                                                           \
        *size = vector->rows;                                                                      \
        *values = vector->values;                                                                  \
        *type = vector->type;                                                                      \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_DENSE_VECTOR(cusparseDnVecGet)
GET_DENSE_VECTOR(cusparseConstDnVecGet)

API(cusparseDnMatSetStridedBatch, void *handle, int count, int64_t stride)
{
    FIND(matrix, handle, KIND_DENSE_MATRIX, dense);
    if (count < 1 || stride < 0)
        return SPARSE_INVALID_VALUE;
    matrix->batch = count;
    matrix->stride = stride;
    return SPARSE_SUCCESS;
}

API(cusparseDnMatGetStridedBatch, const void *handle, int *count, int64_t *stride)
{
    FIND(matrix, handle, KIND_DENSE_MATRIX, dense);
    if (!count || !stride)
        return SPARSE_INVALID_VALUE;
    *count = matrix->batch;
    *stride = matrix->stride;
    return SPARSE_SUCCESS;
}

/* Calls ---------------------------------------------------------------------------------------- */

struct scalar sparse_scalar(const struct context *context, const void *at, int type)
{
    struct scalar scalar = {.at = at, .type = type};
    if (context->device_scalars || !at)
        return scalar;
    double values[2] = {0, 0};
    float singles[2] = {0, 0};
    int whole = 0;
    if (type == TYPE_F64 || type == TYPE_C64) {
        memcpy(values, at, sparse_type_size(type));
    } else if (type == TYPE_I32) {
        memcpy(&whole, at, sizeof whole);
        values[0] = whole;
    } else {
        memcpy(singles, at, type == TYPE_C32 ? 8 : 4);
        values[0] = (double)singles[0];
        values[1] = (double)singles[1];
    }
    scalar.value = (struct number){values[0], values[1]};
    scalar.at = NULL;
    return scalar;
}

int sparse_put_scalar(void *host, int type, struct number value)
{
    float singles[2] = {(float)value.re, (float)value.im};
    double doubles[2] = {value.re, value.im};
    int whole = (int)value.re;
    const void *from = type == TYPE_F64 || type == TYPE_C64 ? (void *)doubles
                       : type == TYPE_I32                   ? (void *)&whole
                                                            : (void *)singles;
    memcpy(host, from, sparse_type_size(type));
    return SPARSE_SUCCESS;
}

bool sparse_scalar_read(const struct scalar *scalar, struct number *value)
{
    *value = scalar->value;
    if (!scalar->at)
        return true;
    struct number *read = sparse_load(scalar->at, scalar->type, 1);
    if (read)
        *value = *read;
    __builtin_free(read);
    return read != NULL;
}

double sparse_bytes(const struct sparse_matrix *matrix)
{
    double entry =
        (double)(sparse_type_size(matrix->type) + sparse_index_size(matrix->indices_type));
    int64_t lines = matrix->format == CSC ? matrix->cols : matrix->rows;
    double more = matrix->format == COO
                      ? (double)matrix->count * (double)sparse_index_size(matrix->indices_type)
                      : (double)lines * (double)sparse_index_size(matrix->offsets_type);
    return (double)matrix->count * entry + more;
}

int sparse_call(const struct context *context, const char *name, void (*function)(void *data),
                const void *data, size_t size, struct sparse_cost cost)
{
    bool wide = cost.type == TYPE_F64 || cost.type == TYPE_C64;
    struct lk_library_call call = {.name = name,
                                   .function = function,
                                   .data = data,
                                   .size = size,
                                   .operations = cost.operations,
                                   .bytes = cost.bytes,
                                   .unit = wide ? LK_UNIT_F64 : LK_UNIT_F32};
    return lk_library_call(context->stream, &call) == CUDA_SUCCESS ? SPARSE_SUCCESS
                                                                   : SPARSE_EXECUTION_FAILED;
}

int sparse_call_now(const struct context *context, const char *name, void (*function)(void *data),
                    const void *data, size_t size, struct sparse_cost cost)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    cuStreamIsCapturing(context->stream, &capture);
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return SPARSE_EXECUTION_FAILED; /* its result is needed now */
    int status = sparse_call(context, name, function, data, size, cost);
    if (status == SPARSE_SUCCESS && cuStreamSynchronize(context->stream) != CUDA_SUCCESS)
        status = SPARSE_EXECUTION_FAILED;
    return status;
}
