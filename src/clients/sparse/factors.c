/*
 * factors.c: incomplete factors in place of a CSR matrix, with its pattern: csrilu02 (L below the
 * diagonal, whose own is ones, and U) and csric02 (L in the lower half; the upper one stays).
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Rows sorted by column; diagonal[i]: the place of a(i, i), -1 if there is none. */
struct pattern {
    struct entries entries;
    int64_t *begins, *diagonal, *place;
};

struct factoring {
    struct sparse_matrix a;
    const void *info; /* a handle: it may be destroyed before this runs */
    struct scalar tolerance, boost;
    bool boosts, only_pattern;
    int64_t (*factor)(const struct factoring *f, struct pattern *p);
};

static bool load_pattern(const struct factoring *f, struct pattern *p)
{
    if (!sparse_entries(&f->a, 0, !f->only_pattern, &p->entries))
        return false;
    struct entries *e = &p->entries;
    p->place = lk_alloc(((size_t)e->count + 1) * sizeof *p->place);
    p->diagonal = lk_alloc(((size_t)e->rows + 1) * sizeof *p->diagonal);
    sparse_entries_sort(e, false, true, p->place);
    p->begins = sparse_row_offsets(e);
    for (int64_t i = 0; i < e->rows; i++) {
        p->diagonal[i] = -1;
        for (int64_t k = p->begins[i]; k < p->begins[i + 1]; k++)
            if (e->col[k] == i)
                p->diagonal[i] = k;
    }
    return true;
}

static void free_pattern(struct pattern *p)
{
    free(p->begins);
    free(p->diagonal);
    free(p->place);
    sparse_entries_free(&p->entries);
}

static void note_pivot(const struct factoring *f, int64_t row)
{
    union sparse_data *data = sparse_find(f->info, KIND_FACTORS);
    if (data)
        data->factors.zero_pivot = row < 0 ? -1 : row + f->a.base;
}

static bool store_factors(const struct factoring *f, const struct pattern *p)
{
    struct number *values = lk_alloc(((size_t)p->entries.count + 1) * sizeof *values);
    for (int64_t k = 0; k < p->entries.count; k++)
        values[p->place[k]] = p->entries.value[k];
    bool stored = sparse_store(f->a.values, f->a.type, values, p->entries.count);
    free(values);
    return stored;
}

static void run_factoring(void *data)
{
    const struct factoring *f = data;
    struct pattern p;
    if (!load_pattern(f, &p))
        return;
    int64_t zero = -1;
    for (int64_t i = 0; i < p.entries.rows && zero < 0; i++)
        if (p.diagonal[i] < 0)
            zero = i;
    if (!f->only_pattern) {
        int64_t row = f->factor(f, &p);
        if (row >= 0 && (zero < 0 || row < zero))
            zero = row;
        store_factors(f, &p);
    }
    note_pivot(f, zero);
    free_pattern(&p);
}

static double magnitude(struct number a)
{
    return hypot(a.re, a.im);
}

static struct number minus_product(struct number a, struct number b, struct number c, bool complex)
{
    struct number product = number_times(b, c, complex);
    return (struct number){a.re - product.re, a.im - product.im};
}

/* Row i less its multiples of earlier rows, where row i has entries. at[column]: where, or -1. */
static void eliminate_row(struct pattern *p, int64_t i, const int64_t *at)
{
    struct entries *e = &p->entries;
    for (int64_t k = p->begins[i]; k < p->begins[i + 1] && e->col[k] < i; k++) {
        int64_t pivot_row = e->col[k], pivot = p->diagonal[pivot_row];
        e->value[k] = number_divided(
            e->value[k], pivot < 0 ? (struct number){0, 0} : e->value[pivot], e->is_complex);
        for (int64_t j = p->begins[pivot_row]; j < p->begins[pivot_row + 1]; j++) {
            int64_t to = at[e->col[j]];
            if (e->col[j] > pivot_row && to >= 0)
                e->value[to] = minus_product(e->value[to], e->value[k], e->value[j], e->is_complex);
        }
    }
}

/* The first row whose pivot is zero; -1: none. */
static int64_t factor_lu(const struct factoring *f, struct pattern *p)
{
    struct entries *e = &p->entries;
    struct number tolerance = {0, 0}, boost = {0, 0};
    if (f->boosts &&
        (!sparse_scalar_read(&f->tolerance, &tolerance) || !sparse_scalar_read(&f->boost, &boost)))
        return -1;
    int64_t zero = -1, *at = lk_alloc(((size_t)e->cols + 1) * sizeof *at);
    for (int64_t j = 0; j < e->cols; j++)
        at[j] = -1;
    for (int64_t i = 0; i < e->rows; i++) {
        for (int64_t k = p->begins[i]; k < p->begins[i + 1]; k++)
            at[e->col[k]] = k;
        eliminate_row(p, i, at);
        for (int64_t k = p->begins[i]; k < p->begins[i + 1]; k++)
            at[e->col[k]] = -1;
        if (p->diagonal[i] < 0)
            continue;
        struct number *pivot = &e->value[p->diagonal[i]];
        if (f->boosts && magnitude(*pivot) <= tolerance.re)
            *pivot = boost;
        if (zero < 0 && number_is_zero(*pivot))
            zero = i;
    }
    free(at);
    return zero;
}

/* The sum of row i's products with row k, of the columns before k. */
static struct number dot_of_rows(const struct pattern *p, int64_t i, int64_t k)
{
    const struct entries *e = &p->entries;
    struct number sum = {0, 0};
    int64_t a = p->begins[i], b = p->begins[k];
    while (a < p->begins[i + 1] && b < p->begins[k + 1] && e->col[a] < k && e->col[b] < k) {
        if (e->col[a] == e->col[b]) {
            struct number other = number_conjugate(e->value[b]);
            sum = number_add(sum, number_times(e->value[a], other, e->is_complex));
        }
        bool step_a = e->col[a] <= e->col[b], step_b = e->col[b] <= e->col[a];
        a += step_a;
        b += step_b;
    }
    return sum;
}

static int64_t factor_cholesky(const struct factoring *f, struct pattern *p)
{
    struct entries *e = &p->entries;
    int64_t zero = -1;
    (void)f;
    for (int64_t i = 0; i < e->rows; i++) {
        for (int64_t k = p->begins[i]; k < p->begins[i + 1] && e->col[k] <= i; k++) {
            int64_t column = e->col[k], pivot = p->diagonal[column];
            struct number sum = dot_of_rows(p, i, column);
            struct number left = {e->value[k].re - sum.re, e->value[k].im - sum.im};
            if (column < i) {
                struct number by = pivot < 0 ? (struct number){0, 0} : e->value[pivot];
                e->value[k] = number_divided(left, by, e->is_complex);
                continue;
            }
            e->value[k] = (struct number){sqrt(left.re), 0};
            if (zero < 0 && !(left.re > 0))
                zero = i;
        }
    }
    return zero;
}

static int put(const char *name, void *handle, int n, int count, void *description, void *values,
               const int *offsets, const int *columns, void *info, struct factoring f, int type)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(described, description, KIND_DESCRIPTION, description);
    FIND(factors, info, KIND_FACTORS, factors);
    if (n < 0 || count < 0 || described->type != 0)
        return SPARSE_INVALID_VALUE;
    f.info = info;
    f.boosts = factors->boosts;
    f.tolerance = factors->tolerance;
    f.boost = factors->boost;
    f.a = (struct sparse_matrix){.format = CSR,
                                 .rows = n,
                                 .cols = n,
                                 .count = count,
                                 .offsets = (void *)offsets,
                                 .indices = (void *)columns,
                                 .values = values,
                                 .offsets_type = INDEX_32,
                                 .indices_type = INDEX_32,
                                 .base = described->base,
                                 .type = type,
                                 .batch = 1};
    double operations = f.only_pattern ? 0 : 2.0 * count * count / (n > 0 ? n : 1);
    struct sparse_cost cost = {operations, 2 * sparse_bytes(&f.a), type};
    return sparse_call(context, name, run_factoring, &f, sizeof f, cost);
}

/* Where the first zero pivot was ------------------------------------------------------------- */

struct question {
    const void *info;
    int *position;
    int64_t *found; /* on the host */
    bool to_device;
};

static void run_question(void *data)
{
    const struct question *q = data;
    union sparse_data *info = sparse_find(q->info, KIND_FACTORS);
    *q->found = info ? info->factors.zero_pivot : -1;
    if (q->to_device)
        sparse_store_indices(q->position, INDEX_32, q->found, 1, 0);
}

static int zero_pivot(const char *name, void *handle, const void *info, int *position)
{
    int64_t found = -1;
    FIND(context, handle, KIND_CONTEXT, context);
    if (!sparse_find(info, KIND_FACTORS) || !position)
        return SPARSE_INVALID_VALUE;
    struct question q = {info, position, &found, context->device_scalars};
    int status =
        sparse_call_now(context, name, run_question, &q, sizeof q, (struct sparse_cost){0});
    if (status != SPARSE_SUCCESS)
        return status;
    if (!q.to_device)
        *position = (int)found;
    return found < 0 ? SPARSE_SUCCESS : SPARSE_ZERO_PIVOT;
}

/* Calls -------------------------------------------------------------------------------------- */

enum { SOME_BYTES = 8 };

#define KIND(name, short_name)                                                                     \
    API(cusparseCreate##name##Info, void **info)                                                   \
    {                                                                                              \
        if (!info)                                                                                 \
            return SPARSE_INVALID_VALUE;                                                           \
        *info = sparse_new(KIND_FACTORS, &(union sparse_data){.factors.zero_pivot = -1});          \
        return *info ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;                                       \
    }                                                                                              \
    API(cusparseDestroy##name##Info, void *info)                                                   \
    {                                                                                              \
        return info ? sparse_delete(info, KIND_FACTORS) : SPARSE_SUCCESS;                          \
    }                                                                                              \
    API(cusparseX##short_name##_zeroPivot, void *handle, const void *info, int *position)          \
    {                                                                                              \
        return zero_pivot("cusparseX" #short_name "_zeroPivot", handle, info, position);           \
    }
KIND(Csrilu02, csrilu02)
KIND(Csric02, csric02)

#define MATRIX                                                                                     \
    void *handle, int n, int count, void *description, void *values, const int *offsets,           \
        const int *columns, void *info
#define ANSWER_SIZE                                                                                \
    (void)n, (void)count, (void)values, (void)offsets, (void)columns;                              \
    if (!sparse_find(handle, KIND_CONTEXT))                                                        \
        return SPARSE_NOT_INITIALIZED;                                                             \
    if (!size || !sparse_find(description, KIND_DESCRIPTION) || !sparse_find(info, KIND_FACTORS))  \
        return SPARSE_INVALID_VALUE;                                                               \
    *size = SOME_BYTES;                                                                            \
    return SPARSE_SUCCESS

#define TYPED(name, type, function)                                                                \
    API(cusparse##name##_bufferSize, MATRIX, int *size)                                            \
    {                                                                                              \
        ANSWER_SIZE;                                                                               \
    }                                                                                              \
    API(cusparse##name##_bufferSizeExt, MATRIX, size_t *size)                                      \
    {                                                                                              \
        ANSWER_SIZE;                                                                               \
    }                                                                                              \
    API(cusparse##name##_analysis, MATRIX, int policy, void *buffer)                               \
    {                                                                                              \
        (void)policy, (void)buffer;                                                                \
        return put("cusparse" #name "_analysis", handle, n, count, description, values, offsets,   \
                   columns, info, (struct factoring){.only_pattern = true}, type);                 \
    }                                                                                              \
    API(cusparse##name, MATRIX, int policy, void *buffer)                                          \
    {                                                                                              \
        (void)policy, (void)buffer;                                                                \
        return put("cusparse" #name, handle, n, count, description, values, offsets, columns,      \
                   info, (struct factoring){.factor = function}, type);                            \
    }

static int set_boost(void *handle, void *info, int enable, const double *tolerance,
                     const void *boost, int type)
{
    FIND(context, handle, KIND_CONTEXT, context);
    FIND(factors, info, KIND_FACTORS, factors);
    if (enable && (!tolerance || !boost))
        return SPARSE_INVALID_VALUE;
    factors->boosts = enable != 0;
    if (enable) {
        factors->tolerance = sparse_scalar(context, tolerance, TYPE_F64);
        factors->boost = sparse_scalar(context, boost, type);
    }
    return SPARSE_SUCCESS;
}

#define BOTH(letter, type)                                                                         \
    TYPED(letter##csrilu02, type, factor_lu)                                                       \
    TYPED(letter##csric02, type, factor_cholesky)                                                  \
    API(cusparse##letter##csrilu02_numericBoost, void *handle, void *info, int enable,             \
        double *tolerance, void *boost)                                                            \
    {                                                                                              \
        return set_boost(handle, info, enable, tolerance, boost, type);                            \
    }
BOTH(S, TYPE_F32)
BOTH(D, TYPE_F64)
BOTH(C, TYPE_C32)
BOTH(Z, TYPE_C64)
