/*
 * objects.c: handles and descriptors of cuSPARSE: what they hold, and which are alive.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which are alive ------------------------------------------------------------------------------ */

enum { CHUNK = 256, CHUNKS = 4096 };

struct object {
    enum sparse_kind kind;
    uint32_t uses; /* how often the place was given out: part of the handle */
    uint32_t next_free;
    union sparse_data data;
};

static struct object *chunks[CHUNKS]; /* objects stay where they are */
static uint32_t object_count, first_free;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct object *object_at(uint32_t index)
{
    return &chunks[index / CHUNK][index % CHUNK];
}

/* Places are counted from 1: 0 ends the list of free ones. */
static uint32_t take_place(void)
{
    uint32_t place = first_free;
    if (place) {
        first_free = object_at(place)->next_free;
        return place;
    }
    place = ++object_count;
    if (place >= CHUNK * CHUNKS)
        return 0;
    if (!chunks[place / CHUNK])
        chunks[place / CHUNK] = lk_alloc_zeroed(CHUNK * sizeof(struct object));
    return place;
}

void *sparse_new(enum sparse_kind kind, const union sparse_data *data)
{
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    uint32_t place = take_place();
    if (place) {
        struct object *object = object_at(place);
        object->kind = kind;
        object->uses++;
        object->data = *data;
        handle = (void *)((uintptr_t)object->uses << 32 | (uintptr_t)place << 4);
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

static struct object *find(const void *handle, enum sparse_kind kind)
{
    uint64_t bits = (uintptr_t)handle;
    uint64_t place = (bits & UINT32_MAX) >> 4;
    if (!place || place > object_count || bits & 15)
        return NULL;
    struct object *object = object_at((uint32_t)place);
    return object->kind == kind && object->uses == bits >> 32 ? object : NULL;
}

union sparse_data *sparse_find(const void *handle, enum sparse_kind kind)
{
    pthread_mutex_lock(&lock);
    struct object *object = find(handle, kind);
    pthread_mutex_unlock(&lock);
    return object ? &object->data : NULL;
}

int sparse_delete(const void *handle, enum sparse_kind kind)
{
    pthread_mutex_lock(&lock);
    struct object *object = find(handle, kind);
    if (object) {
        if (kind == KIND_PRODUCT && object->data.product) {
            sparse_entries_free(object->data.product);
            free(object->data.product);
        }
        object->kind = KIND_NONE;
        object->next_free = first_free;
        first_free = (uint32_t)((uintptr_t)handle & UINT32_MAX) >> 4;
    }
    pthread_mutex_unlock(&lock);
    return object                 ? SPARSE_SUCCESS
           : kind == KIND_CONTEXT ? SPARSE_NOT_INITIALIZED
                                  : SPARSE_INVALID_VALUE;
}

static int make(void **handle, enum sparse_kind kind, const union sparse_data *data)
{
    if (!handle)
        return SPARSE_INVALID_VALUE;
    *handle = sparse_new(kind, data);
    return *handle ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}

int sparse_refuse(const char *name, const char *why)
{
    fprintf(stderr, "lockstep: %s%s is not supported on a simulated GPU\n", name, why);
    return SPARSE_NOT_SUPPORTED;
}

/* The library's handle ------------------------------------------------------------------------- */

API(cusparseCreate, void **handle)
{
    if (lk_library_context() != CUDA_SUCCESS)
        return SPARSE_NOT_INITIALIZED;
    return make(handle, KIND_CONTEXT, &(union sparse_data){0});
}

API(cusparseDestroy, void *handle)
{
    return sparse_delete(handle, KIND_CONTEXT);
}

API(cusparseSetStream, void *handle, CUstream stream)
{
    FIND(context, handle, KIND_CONTEXT, context);
    context->stream = stream;
    return SPARSE_SUCCESS;
}

API(cusparseGetStream, void *handle, CUstream *stream)
{
    FIND(context, handle, KIND_CONTEXT, context);
    if (!stream)
        return SPARSE_INVALID_VALUE;
    *stream = context->stream;
    return SPARSE_SUCCESS;
}

API(cusparseSetPointerMode, void *handle, int mode)
{
    FIND(context, handle, KIND_CONTEXT, context);
    if (mode != 0 && mode != 1)
        return SPARSE_INVALID_VALUE;
    context->device_scalars = mode == 1;
    return SPARSE_SUCCESS;
}

API(cusparseGetPointerMode, void *handle, int *mode)
{
    FIND(context, handle, KIND_CONTEXT, context);
    if (!mode)
        return SPARSE_INVALID_VALUE;
    *mode = context->device_scalars;
    return SPARSE_SUCCESS;
}

/* The version whose interface this is. */
enum { MAJOR = 12, MINOR = 6, PATCH = 3 };

API(cusparseGetVersion, void *handle, int *version)
{
    FIND(context, handle, KIND_CONTEXT, context);
    (void)context;
    if (!version)
        return SPARSE_INVALID_VALUE;
    *version = MAJOR * 1000 + MINOR * 100 + PATCH;
    return SPARSE_SUCCESS;
}

API(cusparseGetProperty, int property, int *value)
{
    if (!value || property < 0 || property > 2)
        return SPARSE_INVALID_VALUE;
    *value = property == 0 ? MAJOR : property == 1 ? MINOR : PATCH;
    return SPARSE_SUCCESS;
}

static const struct {
    const char *name, *text;
} statuses[] = {{"CUSPARSE_STATUS_SUCCESS", "success"},
                {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
                {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
                {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
                {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
                {"CUSPARSE_STATUS_MAPPING_ERROR", "texture mapping failed"},
                {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
                {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
                {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
                {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
                {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
                {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"}};

#define STATUS_TEXT(function, field)                                                               \
    EXPORT const char *function(unsigned status);                                                  \
    EXPORT const char *function(unsigned status)                                                   \
    {                                                                                              \
        return status < sizeof statuses / sizeof *statuses ? statuses[status].field                \
                                                           : "unrecognized error code";            \
    }
STATUS_TEXT(cusparseGetErrorName, name)
STATUS_TEXT(cusparseGetErrorString, text)

/* Descriptions of the older calls -------------------------------------------------------------- */

API(cusparseCreateMatDescr, void **handle)
{
    return make(handle, KIND_DESCRIPTION, &(union sparse_data){0});
}

API(cusparseDestroyMatDescr, void *handle)
{
    return sparse_delete(handle, KIND_DESCRIPTION);
}

#define DESCRIBED(Name, field, most)                                                               \
    API(cusparseSet##Name, void *handle, int value)                                                \
    {                                                                                              \
        FIND(description, handle, KIND_DESCRIPTION, description);                                  \
        if (value < 0 || value > (most))                                                           \
            return SPARSE_INVALID_VALUE;                                                           \
        description->field = value;                                                                \
        return SPARSE_SUCCESS;                                                                     \
    }                                                                                              \
    API(cusparseGet##Name, void *handle)                                                           \
    {                                                                                              \
        const union sparse_data *data = sparse_find(handle, KIND_DESCRIPTION);                     \
        return data ? data->description.field : 0;                                                 \
    }
DESCRIBED(MatType, type, 3)
DESCRIBED(MatFillMode, fill, 1)
DESCRIBED(MatDiagType, diagonal, 1)
DESCRIBED(MatIndexBase, base, 1)

/* Sparse matrices and vectors ------------------------------------------------------------------ */

static int make_sparse(void **handle, const struct sparse_matrix *matrix)
{
    union sparse_data data = {.sparse = *matrix};
    bool indices = matrix->indices_type == INDEX_32 || matrix->indices_type == INDEX_64;
    bool offsets = matrix->format == COO || matrix->offsets_type == INDEX_32 ||
                   matrix->offsets_type == INDEX_64;
    if (matrix->rows < 0 || matrix->cols < 0 || matrix->count < 0 || !indices || !offsets ||
        matrix->base < 0 || matrix->base > 1 || (matrix->format != COO && !matrix->offsets))
        return SPARSE_INVALID_VALUE;
    if (!sparse_type_size(matrix->type))
        return SPARSE_NOT_SUPPORTED;
    data.sparse.batch = 1;
    return make(handle, KIND_SPARSE_MATRIX, &data);
}

#define COMPRESSED(name, layout)                                                                   \
    API(name, void **handle, int64_t rows, int64_t cols, int64_t count, const void *offsets,       \
        const void *indices, const void *values, int offsets_type, int indices_type, int base,     \
        int type)                                                                                  \
    {                                                                                              \
        return make_sparse(handle, &(struct sparse_matrix){.format = layout,                       \
                                                           .rows = rows,                           \
                                                           .cols = cols,                           \
                                                           .count = count,                         \
                                                           .offsets = (void *)offsets,             \
                                                           .indices = (void *)indices,             \
                                                           .values = (void *)values,               \
                                                           .offsets_type = offsets_type,           \
                                                           .indices_type = indices_type,           \
                                                           .base = base,                           \
                                                           .type = type});                         \
    }
COMPRESSED(cusparseCreateCsr, CSR)
COMPRESSED(cusparseCreateConstCsr, CSR)
COMPRESSED(cusparseCreateCsc, CSC)
COMPRESSED(cusparseCreateConstCsc, CSC)

#define COORDINATES(name)                                                                          \
    API(name, void **handle, int64_t rows, int64_t cols, int64_t count, const void *row,           \
        const void *col, const void *values, int indices_type, int base, int type)                 \
    {                                                                                              \
        return make_sparse(handle, &(struct sparse_matrix){.format = COO,                          \
                                                           .rows = rows,                           \
                                                           .cols = cols,                           \
                                                           .count = count,                         \
                                                           .rows_of = (void *)row,                 \
                                                           .indices = (void *)col,                 \
                                                           .values = (void *)values,               \
                                                           .indices_type = indices_type,           \
                                                           .base = base,                           \
                                                           .type = type});                         \
    }
COORDINATES(cusparseCreateCoo)
COORDINATES(cusparseCreateConstCoo)

API(cusparseDestroySpMat, const void *handle)
{
    return sparse_delete(handle, KIND_SPARSE_MATRIX);
}

#define PUT(pointer, value)                                                                        \
    do {                                                                                           \
        if (pointer)                                                                               \
            *(pointer) = value;                                                                    \
    } while (0)

#define GET_COMPRESSED(name, layout)                                                               \
    API(name, const void *handle, int64_t *rows, int64_t *cols, int64_t *count, void **offsets,    \
        void **indices, void **values, int *offsets_type, int *indices_type, int *base, int *type) \
    {                                                                                              \
        FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);                                          \
        if (matrix->format != (layout))                                                            \
            return SPARSE_INVALID_VALUE;                                                           \
        PUT(rows, matrix->rows);                                                                   \
        PUT(cols, matrix->cols);                                                                   \
        PUT(count, matrix->count);                                                                 \
        PUT(offsets, matrix->offsets);                                                             \
        PUT(indices, matrix->indices);                                                             \
        PUT(values, matrix->values);                                                               \
        PUT(offsets_type, matrix->offsets_type);                                                   \
        PUT(indices_type, matrix->indices_type);                                                   \
        PUT(base, matrix->base);                                                                   \
        PUT(type, matrix->type);                                                                   \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_COMPRESSED(cusparseCsrGet, CSR)
GET_COMPRESSED(cusparseConstCsrGet, CSR)
GET_COMPRESSED(cusparseCscGet, CSC)
GET_COMPRESSED(cusparseConstCscGet, CSC)

#define GET_COORDINATES(name)                                                                      \
    API(name, const void *handle, int64_t *rows, int64_t *cols, int64_t *count, void **row,        \
        void **col, void **values, int *indices_type, int *base, int *type)                        \
    {                                                                                              \
        FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);                                          \
        if (matrix->format != COO)                                                                 \
            return SPARSE_INVALID_VALUE;                                                           \
        PUT(rows, matrix->rows);                                                                   \
        PUT(cols, matrix->cols);                                                                   \
        PUT(count, matrix->count);                                                                 \
        PUT(row, matrix->rows_of);                                                                 \
        PUT(col, matrix->indices);                                                                 \
        PUT(values, matrix->values);                                                               \
        PUT(indices_type, matrix->indices_type);                                                   \
        PUT(base, matrix->base);                                                                   \
        PUT(type, matrix->type);                                                                   \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_COORDINATES(cusparseCooGet)
GET_COORDINATES(cusparseConstCooGet)

static int set_pointers(void *handle, enum sparse_format format, void *lines, void *indices,
                        void *values)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    if (matrix->format != format || !lines)
        return SPARSE_INVALID_VALUE;
    *(format == COO ? &matrix->rows_of : &matrix->offsets) = lines;
    matrix->indices = indices;
    matrix->values = values;
    return SPARSE_SUCCESS;
}

API(cusparseCsrSetPointers, void *handle, void *offsets, void *indices, void *values)
{
    return set_pointers(handle, CSR, offsets, indices, values);
}

API(cusparseCscSetPointers, void *handle, void *offsets, void *indices, void *values)
{
    return set_pointers(handle, CSC, offsets, indices, values);
}

API(cusparseCooSetPointers, void *handle, void *rows, void *cols, void *values)
{
    return set_pointers(handle, COO, rows, cols, values);
}

API(cusparseSpMatGetSize, const void *handle, int64_t *rows, int64_t *cols, int64_t *count)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    PUT(rows, matrix->rows);
    PUT(cols, matrix->cols);
    PUT(count, matrix->count);
    return SPARSE_SUCCESS;
}

API(cusparseSpMatSetAttribute, void *handle, int attribute, const void *data, size_t size)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    int value;
    if (!data || size != sizeof value || attribute < 0 || attribute > 1)
        return SPARSE_INVALID_VALUE;
    memcpy(&value, data, sizeof value);
    if (value != 0 && value != 1)
        return SPARSE_INVALID_VALUE;
    *(attribute == 0 ? &matrix->fill : &matrix->diagonal) = value;
    return SPARSE_SUCCESS;
}

API(cusparseSpMatGetAttribute, const void *handle, int attribute, void *data, size_t size)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    if (!data || size != sizeof(int) || attribute < 0 || attribute > 1)
        return SPARSE_INVALID_VALUE;
    memcpy(data, attribute == 0 ? &matrix->fill : &matrix->diagonal, sizeof(int));
    return SPARSE_SUCCESS;
}

/* rows_stride: of the offsets; COO has one for all three arrays. */
static int set_batch(void *handle, enum sparse_format format, int count, int64_t offsets,
                     int64_t values)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    if (matrix->format != format || count < 1 || offsets < 0 || values < 0)
        return SPARSE_INVALID_VALUE;
    matrix->batch = count;
    matrix->offsets_stride = offsets;
    matrix->values_stride = values;
    return SPARSE_SUCCESS;
}

API(cusparseCsrSetStridedBatch, void *handle, int count, int64_t offsets, int64_t values)
{
    return set_batch(handle, CSR, count, offsets, values);
}

API(cusparseCooSetStridedBatch, void *handle, int count, int64_t values)
{
    return set_batch(handle, COO, count, 0, values);
}

API(cusparseSpMatGetStridedBatch, const void *handle, int *count)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    PUT(count, matrix->batch);
    return SPARSE_SUCCESS;
}

API(cusparseSpMatGetFormat, const void *handle, int *format)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    PUT(format, (int)matrix->format);
    return SPARSE_SUCCESS;
}

/* A sparse vector is a matrix of one row. */
#define SPARSE_VECTOR(name)                                                                        \
    API(name, void **handle, int64_t size, int64_t count, const void *indices, const void *values, \
        int indices_type, int base, int type)                                                      \
    {                                                                                              \
        union sparse_data data = {.sparse = {.format = COO,                                        \
                                             .rows = 1,                                            \
                                             .cols = size,                                         \
                                             .count = count,                                       \
                                             .indices = (void *)indices,                           \
                                             .values = (void *)values,                             \
                                             .indices_type = indices_type,                         \
                                             .base = base,                                         \
                                             .type = type,                                         \
                                             .batch = 1}};                                         \
        if (size < 0 || count < 0 || count > size || base < 0 || base > 1 ||                       \
            (indices_type != INDEX_32 && indices_type != INDEX_64))                                \
            return SPARSE_INVALID_VALUE;                                                           \
        if (!sparse_type_size(type))                                                               \
            return SPARSE_NOT_SUPPORTED;                                                           \
        return make(handle, KIND_SPARSE_VECTOR, &data);                                            \
    }
SPARSE_VECTOR(cusparseCreateSpVec)
SPARSE_VECTOR(cusparseCreateConstSpVec)

API(cusparseDestroySpVec, const void *handle)
{
    return sparse_delete(handle, KIND_SPARSE_VECTOR);
}

#define GET_SPARSE_VECTOR(name)                                                                    \
    API(name, const void *handle, int64_t *size, int64_t *count, void **indices, void **values,    \
        int *indices_type, int *base, int *type)                                                   \
    {                                                                                              \
        FIND(vector, handle, KIND_SPARSE_VECTOR, sparse);                                          \
        PUT(size, vector->cols);                                                                   \
        PUT(count, vector->count);                                                                 \
        PUT(indices, vector->indices);                                                             \
        PUT(values, vector->values);                                                               \
        PUT(indices_type, vector->indices_type);                                                   \
        PUT(base, vector->base);                                                                   \
        PUT(type, vector->type);                                                                   \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_SPARSE_VECTOR(cusparseSpVecGet)
GET_SPARSE_VECTOR(cusparseConstSpVecGet)

/* Values and index bases, of all kinds --------------------------------------------------------- */

#define GET_VALUES(name, kind, member)                                                             \
    API(name, const void *handle, void **values)                                                   \
    {                                                                                              \
        FIND(object, handle, kind, member);                                                        \
        PUT(values, object->values);                                                               \
        return SPARSE_SUCCESS;                                                                     \
    }
#define SET_VALUES(name, kind, member)                                                             \
    API(name, void *handle, void *values)                                                          \
    {                                                                                              \
        FIND(object, handle, kind, member);                                                        \
        object->values = values;                                                                   \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_VALUES(cusparseSpMatGetValues, KIND_SPARSE_MATRIX, sparse)
GET_VALUES(cusparseConstSpMatGetValues, KIND_SPARSE_MATRIX, sparse)
GET_VALUES(cusparseSpVecGetValues, KIND_SPARSE_VECTOR, sparse)
GET_VALUES(cusparseConstSpVecGetValues, KIND_SPARSE_VECTOR, sparse)
GET_VALUES(cusparseDnMatGetValues, KIND_DENSE_MATRIX, dense)
GET_VALUES(cusparseConstDnMatGetValues, KIND_DENSE_MATRIX, dense)
GET_VALUES(cusparseDnVecGetValues, KIND_DENSE_VECTOR, dense)
GET_VALUES(cusparseConstDnVecGetValues, KIND_DENSE_VECTOR, dense)
SET_VALUES(cusparseSpMatSetValues, KIND_SPARSE_MATRIX, sparse)
SET_VALUES(cusparseSpVecSetValues, KIND_SPARSE_VECTOR, sparse)
SET_VALUES(cusparseDnMatSetValues, KIND_DENSE_MATRIX, dense)
SET_VALUES(cusparseDnVecSetValues, KIND_DENSE_VECTOR, dense)

API(cusparseSpMatGetIndexBase, const void *handle, int *base)
{
    FIND(matrix, handle, KIND_SPARSE_MATRIX, sparse);
    PUT(base, matrix->base);
    return SPARSE_SUCCESS;
}

API(cusparseSpVecGetIndexBase, const void *handle, int *base)
{
    FIND(vector, handle, KIND_SPARSE_VECTOR, sparse);
    PUT(base, vector->base);
    return SPARSE_SUCCESS;
}
