/*
 * sparse.h: the drop-in libcusparse for simulated GPUs. Calls run on the CPU, in their stream
 * (driver/library_call.h). A matrix of any format is read as a list of its entries (load.c), values
 * as doubles, complex or not; results are rounded once, as they are written.
 */
#ifndef LOCKSTEP_CLIENTS_SPARSE_H
#define LOCKSTEP_CLIENTS_SPARSE_H

#include "clients/driver_calls.h"
#include "driver/library_call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

enum sparse_status {
    SPARSE_SUCCESS = 0,
    SPARSE_NOT_INITIALIZED = 1,
    SPARSE_ALLOC_FAILED = 2,
    SPARSE_INVALID_VALUE = 3,
    SPARSE_EXECUTION_FAILED = 6,
    SPARSE_ZERO_PIVOT = 9,
    SPARSE_NOT_SUPPORTED = 10,
    SPARSE_INSUFFICIENT = 11
};
enum sparse_format { CSR = 1, CSC = 2, COO = 3 };
enum sparse_index { INDEX_16U = 1, INDEX_32 = 2, INDEX_64 = 3 };
enum sparse_op { OP_NONE, OP_TRANSPOSE, OP_CONJUGATE };
enum sparse_order { ORDER_COL = 1, ORDER_ROW = 2 };
enum sparse_type { /* cudaDataType */
                   TYPE_F32 = 0,
                   TYPE_F64 = 1,
                   TYPE_F16 = 2,
                   TYPE_I8 = 3,
                   TYPE_C32 = 4,
                   TYPE_C64 = 5,
                   TYPE_I32 = 10,
                   TYPE_BF16 = 14
};
enum { LOWER = 0, UPPER = 1, UNIT = 1 };

/* Objects: a handle is a number, not an address, so that one that was destroyed is known
 * (objects.c). ------------------------------------------------------------------------------- */

enum sparse_kind {
    KIND_NONE,
    KIND_CONTEXT,
    KIND_DESCRIPTION, /* of the older calls */
    KIND_SPARSE_VECTOR,
    KIND_DENSE_VECTOR,
    KIND_SPARSE_MATRIX,
    KIND_DENSE_MATRIX,
    KIND_PRODUCT, /* SpGEMM, SpGEAM */
    KIND_SOLVER,  /* SpSV, SpSM */
    KIND_FACTORS  /* csrilu02, csric02 */
};

struct context {
    CUstream stream;
    bool device_scalars;
};

struct description {
    int type, fill, diagonal, base;
};

struct sparse_matrix { /* vectors, too: rows is 1 */
    enum sparse_format format;
    int64_t rows, cols, count;
    void *offsets; /* CSR: of rows; CSC: of columns; COO: NULL */
    void *rows_of; /* COO: the row of each entry */
    void *indices; /* the other coordinate */
    void *values;
    int offsets_type, indices_type, base, type;
    int fill, diagonal;
    bool one_column; /* a CSR matrix whose columns do not matter: indices is not read */
    int batch;
    int64_t offsets_stride, values_stride; /* from one of a batch to the next */
};

struct dense_matrix { /* vectors, too: one column */
    int64_t rows, cols, ld;
    int type;
    enum sparse_order order;
    void *values;
    int batch;
    int64_t stride;
};

struct number {
    double re, im;
};

/* A factor: its value if the host gave it, else where it is. */
struct scalar {
    struct number value;
    const void *at;
    int type;
};

struct factors {
    int64_t zero_pivot; /* the first, as the matrix counts; -1: none */
    bool boosts;        /* pivots up to a size are replaced */
    struct scalar tolerance, boost;
};

struct entries;

union sparse_data {
    struct context context;
    struct description description;
    struct sparse_matrix sparse;
    struct dense_matrix dense;
    struct entries *product; /* owned: what a product has computed */
    struct factors factors;
};

void *sparse_new(enum sparse_kind kind, const union sparse_data *data);    /* NULL: too many */
union sparse_data *sparse_find(const void *handle, enum sparse_kind kind); /* NULL: not alive */
int sparse_delete(const void *handle, enum sparse_kind kind);
int sparse_refuse(const char *name, const char *why); /* prints it: SPARSE_NOT_SUPPORTED */

/* Values and entries, in the memory of the GPU: only while a call runs. --------------------- */

static inline struct number number_add(struct number a, struct number b)
{
    return (struct number){a.re + b.re, a.im + b.im};
}

/* Real numbers stay real: an infinity does not make a NaN of an imaginary part. */
static inline struct number number_times(struct number a, struct number b, bool is_complex)
{
    if (!is_complex)
        return (struct number){a.re * b.re, 0};
    return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline struct number number_conjugate(struct number a)
{
    return (struct number){a.re, -a.im};
}

struct number number_divided(struct number a, struct number b, bool is_complex);

static inline bool number_is_zero(struct number a)
{
    return a.re == 0 && a.im == 0;
}

size_t sparse_type_size(int type); /* 0: not supported */
bool sparse_is_complex(int type);
size_t sparse_index_size(int type);
/* count values; malloc'd, NULL after an access that leaves its allocation. */
struct number *sparse_load(const void *values, int type, int64_t count);
bool sparse_store(void *values, int type, const struct number *numbers, int64_t count);
/* Indices, less the base. */
int64_t *sparse_load_indices(const void *indices, int type, int64_t count, int base);
bool sparse_store_indices(void *indices, int type, const int64_t *numbers, int64_t count, int base);

/* A matrix as a list, in the order in which it is stored. */
struct entries {
    int64_t rows, cols, count;
    int64_t *row, *col;
    struct number *value; /* NULL: only the pattern was asked for */
    bool is_complex;
};
/* batch: which of a batch. False after a failure; an index outside the matrix is one. */
bool sparse_entries(const struct sparse_matrix *matrix, int batch, bool values,
                    struct entries *entries);
void sparse_entries_free(struct entries *entries);
void sparse_entries_turn(struct entries *entries, enum sparse_op op); /* transposes */
/* By rows, or by columns; entries of a row keep their order unless full: then by column, too.
 * place[i]: where entry i was (may be NULL). */
void sparse_entries_sort(struct entries *entries, bool by_columns, bool full, int64_t *place);
/* [rows + 1]: where each row begins, of entries that are sorted by rows; malloc'd. */
int64_t *sparse_row_offsets(const struct entries *entries);

/* A dense matrix, all rows first: element (i, j) at [i * cols + j]. */
struct number *sparse_dense(const struct dense_matrix *matrix, int batch);
bool sparse_dense_store(const struct dense_matrix *matrix, int batch, const struct number *values);

/* Calls ------------------------------------------------------------------------------------------
 */

struct scalar sparse_scalar(const struct context *context, const void *at, int type);
int sparse_put_scalar(void *host, int type, struct number value); /* a result for the host */
bool sparse_scalar_read(const struct scalar *scalar, struct number *value);

struct sparse_cost {
    double operations, bytes;
    int type;
};
/* Puts function into the context's stream with a copy of data. */
int sparse_call(const struct context *context, const char *name, void (*function)(void *data),
                const void *data, size_t size, struct sparse_cost cost);
/* The same, and waits: for calls whose result the host needs. */
int sparse_call_now(const struct context *context, const char *name, void (*function)(void *data),
                    const void *data, size_t size, struct sparse_cost cost);
double sparse_bytes(const struct sparse_matrix *matrix);

#define FIND(variable, handle, kind, member)                                                       \
    union sparse_data *variable##_data = sparse_find(handle, kind);                                \
    if (!variable##_data)                                                                          \
        return kind == KIND_CONTEXT ? SPARSE_NOT_INITIALIZED : SPARSE_INVALID_VALUE;               \
    __typeof__(variable##_data->member) *variable = &variable##_data->member

/* Calls that make and destroy a descriptor of a kind. */
#define DESCRIPTOR(name, kind)                                                                     \
    API(name##_createDescr, void **descriptor)                                                     \
    {                                                                                              \
        if (!descriptor)                                                                           \
            return SPARSE_INVALID_VALUE;                                                           \
        *descriptor = sparse_new(kind, &(union sparse_data){0});                                   \
        return *descriptor ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;                                 \
    }                                                                                              \
    API(name##_destroyDescr, void *descriptor)                                                     \
    {                                                                                              \
        return sparse_delete(descriptor, kind);                                                    \
    }

#endif
