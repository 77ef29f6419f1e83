/*
 * solve.c: triangular systems: SpSV and SpSM. Entries of the other triangle are passed over, as is
 * the diagonal where it stands for ones.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <stdlib.h>

enum { SOME_BYTES = 8 };

struct system {
    struct sparse_matrix a;
    struct dense_matrix b, x;
    enum sparse_op op_a, op_b;
    struct scalar alpha;
};

/* x holds alpha * b, [rows][n]; a: sorted by rows, and turned already. */
static void substitute(const struct entries *a, bool upper, bool unit, struct number *x, int64_t n,
                       bool is_complex)
{
    int64_t *begins = sparse_row_offsets(a);
    for (int64_t step = 0; step < a->rows; step++) {
        int64_t i = upper ? a->rows - 1 - step : step;
        struct number diagonal = {0, 0};
        for (int64_t k = begins[i]; k < begins[i + 1]; k++) {
            int64_t col = a->col[k];
            if (col == i)
                diagonal = number_add(diagonal, a->value[k]);
            if (upper ? col <= i : col >= i)
                continue;
            struct number factor = {-a->value[k].re, -a->value[k].im};
            for (int64_t j = 0; j < n; j++)
                x[i * n + j] =
                    number_add(x[i * n + j], number_times(factor, x[col * n + j], is_complex));
        }
        for (int64_t j = 0; j < n && !unit; j++)
            x[i * n + j] = number_divided(x[i * n + j], diagonal, is_complex);
    }
    free(begins);
}

static void run_system(void *data)
{
    const struct system *s = data;
    struct number alpha;
    struct entries a;
    if (!sparse_scalar_read(&s->alpha, &alpha) || !sparse_entries(&s->a, 0, true, &a))
        return;
    bool upper = s->a.fill == UPPER, is_complex = a.is_complex;
    if (s->op_a != OP_NONE)
        upper = !upper;
    sparse_entries_turn(&a, s->op_a);
    sparse_entries_sort(&a, false, false, NULL);
    struct number *b = sparse_dense(&s->b, 0);
    int64_t rows = s->x.rows, n = s->x.cols;
    struct number *x = b ? lk_alloc(((size_t)(rows * n) + 1) * sizeof *x) : NULL;
    for (int64_t i = 0; x && i < rows; i++)
        for (int64_t j = 0; j < n; j++) {
            struct number value = b[s->op_b == OP_NONE ? i * n + j : j * s->b.cols + i];
            if (s->op_b == OP_CONJUGATE)
                value = number_conjugate(value);
            x[i * n + j] = number_times(alpha, value, is_complex);
        }
    if (x) {
        substitute(&a, upper, s->a.diagonal == UNIT, x, n, is_complex);
        sparse_dense_store(&s->x, 0, x);
    }
    free(b);
    free(x);
    sparse_entries_free(&a);
}

static int prepare(struct system *system, struct context *context_out, void *handle, int op_a,
                   int op_b, const void *alpha, const void *a_handle, const void *b_handle,
                   const void *x_handle, enum sparse_kind kind, int compute, void *descriptor)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(a, a_handle, KIND_SPARSE_MATRIX, sparse);
    FIND(b, b_handle, kind, dense);
    FIND(x, x_handle, kind, dense);
    int64_t rows = op_b ? b->cols : b->rows, cols = op_b ? b->rows : b->cols;
    if (!sparse_find(descriptor, KIND_SOLVER) || !alpha || op_a < 0 || op_a > OP_CONJUGATE ||
        op_b < 0 || op_b > OP_CONJUGATE || a->rows != a->cols || a->rows != x->rows ||
        rows != x->rows || cols != x->cols)
        return SPARSE_INVALID_VALUE;
    if (!sparse_type_size(compute))
        return SPARSE_NOT_SUPPORTED;
    *context_out = *context;
    *system = (struct system){.a = *a,
                              .b = *b,
                              .x = *x,
                              .op_a = (enum sparse_op)op_a,
                              .op_b = (enum sparse_op)op_b,
                              .alpha = sparse_scalar(context, alpha, compute)};
    return SPARSE_SUCCESS;
}

#define ANSWER_SIZE                                                                                \
    if (status == SPARSE_SUCCESS && !size)                                                         \
        return SPARSE_INVALID_VALUE;                                                               \
    if (status == SPARSE_SUCCESS)                                                                  \
        *size = SOME_BYTES;                                                                        \
    return status

static int solve(const char *name, const struct context *context, const struct system *system)
{
    struct sparse_cost cost = {2.0 * (double)system->a.count * (double)system->x.cols,
                               sparse_bytes(&system->a) +
                                   2.0 * (double)(system->x.rows * system->x.cols) *
                                       (double)sparse_type_size(system->x.type),
                               system->x.type};
    return sparse_call(context, name, run_system, system, sizeof *system, cost);
}

#define SV_ARGUMENTS                                                                               \
    void *handle, int op, const void *alpha, const void *a, const void *b, void *x, int compute,   \
        int algorithm, void *descriptor
#define SV_PREPARED                                                                                \
    struct system system;                                                                          \
    struct context context;                                                                        \
    (void)algorithm;                                                                               \
    int status = prepare(&system, &context, handle, op, OP_NONE, alpha, a, b, x,                   \
                         KIND_DENSE_VECTOR, compute, descriptor)

API(cusparseSpSV_bufferSize, SV_ARGUMENTS, size_t *size)
{
    SV_PREPARED;
    ANSWER_SIZE;
}

API(cusparseSpSV_analysis, SV_ARGUMENTS, void *buffer)
{
    (void)buffer;
    SV_PREPARED;
    return status;
}

API(cusparseSpSV_solve, SV_ARGUMENTS)
{
    SV_PREPARED;
    return status ? status : solve("cusparseSpSV_solve", &context, &system);
}

#define SM_ARGUMENTS                                                                               \
    void *handle, int op, int op_b, const void *alpha, const void *a, const void *b, void *x,      \
        int compute, int algorithm, void *descriptor
#define SM_PREPARED                                                                                \
    struct system system;                                                                          \
    struct context context;                                                                        \
    (void)algorithm;                                                                               \
    int status = prepare(&system, &context, handle, op, op_b, alpha, a, b, x, KIND_DENSE_MATRIX,   \
                         compute, descriptor)

API(cusparseSpSM_bufferSize, SM_ARGUMENTS, size_t *size)
{
    SM_PREPARED;
    ANSWER_SIZE;
}

API(cusparseSpSM_analysis, SM_ARGUMENTS, void *buffer)
{
    (void)buffer;
    SM_PREPARED;
    return status;
}

API(cusparseSpSM_solve, SM_ARGUMENTS)
{
    SM_PREPARED;
    return status ? status : solve("cusparseSpSM_solve", &context, &system);
}

DESCRIPTOR(cusparseSpSV, KIND_SOLVER)
DESCRIPTOR(cusparseSpSM, KIND_SOLVER)
