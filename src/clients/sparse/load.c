/*
 * load.c: values, indices and matrices out of the GPU's memory, and back into it.
 */
#include "clients/sparse/sparse.h"

#include "base/arena.h"
#include "simt/num_half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values --------------------------------------------------------------------------------------- */

size_t sparse_type_size(int type)
{
    switch (type) {
    case TYPE_F32:
    case TYPE_I32:
        return 4;
    case TYPE_F64:
    case TYPE_C32:
        return 8;
    case TYPE_C64:
        return 16;
    case TYPE_F16:
    case TYPE_BF16:
        return 2;
    case TYPE_I8:
        return 1;
    default:
        return 0;
    }
}

bool sparse_is_complex(int type)
{
    return type == TYPE_C32 || type == TYPE_C64;
}

struct number number_divided(struct number a, struct number b, bool is_complex)
{
    if (!is_complex)
        return (struct number){a.re / b.re, 0};
    double size = b.re * b.re + b.im * b.im;
    return (struct number){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

static struct number read_one(const char *at, int type)
{
    struct number number = {0, 0};
    union {
        float f[2];
        double d[2];
        int32_t i;
        int8_t c;
        uint16_t h;
    } bits;
    memcpy(&bits, at, sparse_type_size(type));
    switch (type) {
    case TYPE_C32:
        number.im = (double)bits.f[1]; /* fall through */
    case TYPE_F32:
        number.re = (double)bits.f[0];
        break;
    case TYPE_C64:
        number.im = bits.d[1]; /* fall through */
    case TYPE_F64:
        number.re = bits.d[0];
        break;
    case TYPE_I32:
        number.re = bits.i;
        break;
    case TYPE_I8:
        number.re = bits.c;
        break;
    case TYPE_F16:
        number.re = (double)num_f16_widen(bits.h);
        break;
    default:
        number.re = (double)num_bf16_widen(bits.h);
    }
    return number;
}

static void write_one(char *at, int type, struct number number)
{
    union {
        float f[2];
        double d[2];
        int32_t i;
        int8_t c;
        uint16_t h;
    } bits = {0};
    switch (type) {
    case TYPE_C32:
        bits.f[1] = (float)number.im; /* fall through */
    case TYPE_F32:
        bits.f[0] = (float)number.re;
        break;
    case TYPE_C64:
        bits.d[1] = number.im; /* fall through */
    case TYPE_F64:
        bits.d[0] = number.re;
        break;
    case TYPE_I32:
        bits.i = (int32_t)(int64_t)number.re;
        break;
    case TYPE_I8:
        bits.c = (int8_t)(int64_t)number.re;
        break;
    case TYPE_F16:
        bits.h = num_f16_narrow((float)number.re);
        break;
    default:
        bits.h = num_bf16_narrow((float)number.re);
    }
    memcpy(at, &bits, sparse_type_size(type));
}

struct number *sparse_load(const void *values, int type, int64_t count)
{
    size_t size = sparse_type_size(type);
    const char *from = lk_library_bytes(values, (size_t)count * size);
    if (!from && count) {
        lk_library_fail("a pointer to values is NULL"); /* unless it has failed already */
        return NULL;
    }
    struct number *numbers = lk_alloc(((size_t)count + 1) * sizeof *numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = read_one(from + (size_t)i * size, type);
    return numbers;
}

bool sparse_store(void *values, int type, const struct number *numbers, int64_t count)
{
    size_t size = sparse_type_size(type);
    char *to = lk_library_bytes(values, (size_t)count * size);
    if (!to && count)
        lk_library_fail("a pointer to the result is NULL");
    if (!to)
        return count == 0;
    for (int64_t i = 0; i < count; i++)
        write_one(to + (size_t)i * size, type, numbers[i]);
    lk_library_wrote(values, (size_t)count * size);
    return true;
}

/* Indices -------------------------------------------------------------------------------------- */

size_t sparse_index_size(int type)
{
    return type == INDEX_64 ? 8 : type == INDEX_32 ? 4 : 2;
}

int64_t *sparse_load_indices(const void *indices, int type, int64_t count, int base)
{
    size_t size = sparse_index_size(type);
    const char *from = lk_library_bytes(indices, (size_t)count * size);
    if (!from && count) {
        lk_library_fail("a pointer to indices is NULL");
        return NULL;
    }
    int64_t *numbers = lk_alloc(((size_t)count + 1) * sizeof *numbers);
    for (int64_t i = 0; i < count; i++) {
        int64_t wide = 0;
        int32_t narrow;
        memcpy(&wide, from + (size_t)i * size, size);
        memcpy(&narrow, &wide, sizeof narrow);
        numbers[i] = (type == INDEX_32 ? narrow : wide) - base;
    }
    return numbers;
}

bool sparse_store_indices(void *indices, int type, const int64_t *numbers, int64_t count, int base)
{
    size_t size = sparse_index_size(type);
    char *to = lk_library_bytes(indices, (size_t)count * size);
    if (!to && count)
        lk_library_fail("a pointer to the result is NULL");
    if (!to)
        return count == 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = numbers[i] + base;
        memcpy(to + (size_t)i * size, &value, size);
    }
    lk_library_wrote(indices, (size_t)count * size);
    return true;
}

/* Sparse matrices ------------------------------------------------------------------------------ */

/* Fewer entries than the matrix was said to have are fine: the offsets decide, as in cuSPARSE. */
static bool expand(const int64_t *offsets, int64_t lines, int64_t *count, int64_t *line_of)
{
    if (offsets[0] != 0 || offsets[lines] > *count)
        return false;
    *count = offsets[lines];
    for (int64_t i = 0; i < lines; i++) {
        if (offsets[i + 1] < offsets[i] || offsets[i + 1] > *count)
            return false;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            line_of[k] = i;
    }
    return true;
}

static bool in_range(const int64_t *indices, int64_t count, int64_t most)
{
    for (int64_t i = 0; i < count; i++)
        if (indices[i] < 0 || indices[i] >= most)
            return false;
    return true;
}

static char *shifted(void *at, int64_t elements, size_t size)
{
    return (char *)at + (size_t)elements * size;
}

/* The lines that offsets belong to: rows or columns. count: of the entries. */
static int64_t *lines_of(const struct sparse_matrix *matrix, int batch, int64_t *count)
{
    *count = matrix->count;
    if (matrix->format == COO)
        return sparse_load_indices(shifted(matrix->rows_of, matrix->values_stride * batch,
                                           sparse_index_size(matrix->indices_type)),
                                   matrix->indices_type, *count, matrix->base);
    int64_t lines = matrix->format == CSR ? matrix->rows : matrix->cols;
    int64_t *offsets = sparse_load_indices(shifted(matrix->offsets, matrix->offsets_stride * batch,
                                                   sparse_index_size(matrix->offsets_type)),
                                           matrix->offsets_type, lines + 1, matrix->base);
    if (!offsets)
        return NULL;
    int64_t *line_of = lk_alloc(((size_t)*count + 1) * sizeof *line_of);
    if (!expand(offsets, lines, count, line_of)) {
        lk_library_fail("offsets do not rise from 0 to at most the number of entries");
        free(line_of);
        line_of = NULL;
    }
    free(offsets);
    return line_of;
}

bool sparse_entries(const struct sparse_matrix *matrix, int batch, bool values,
                    struct entries *entries)
{
    int64_t count, *lines = lines_of(matrix, batch, &count);
    int64_t *others =
        lines && matrix->one_column ? lk_alloc_zeroed(((size_t)count + 1) * sizeof *others)
        : lines ? sparse_load_indices(shifted(matrix->indices, matrix->values_stride * batch,
                                              sparse_index_size(matrix->indices_type)),
                                      matrix->indices_type, count, matrix->base)
                : NULL;
    bool by_columns = matrix->format == CSC;
    *entries = (struct entries){.rows = matrix->rows,
                                .cols = matrix->cols,
                                .count = count,
                                .row = by_columns ? others : lines,
                                .col = by_columns ? lines : others,
                                .is_complex = sparse_is_complex(matrix->type)};
    bool fine = lines && others;
    if (fine && values) {
        entries->value = sparse_load(
            shifted(matrix->values, matrix->values_stride * batch, sparse_type_size(matrix->type)),
            matrix->type, count);
        fine = entries->value != NULL;
    }
    if (fine && (!in_range(entries->row, entries->count, entries->rows) ||
                 !in_range(entries->col, entries->count, entries->cols))) {
        lk_library_fail("an index lies outside the matrix");
        fine = false;
    }
    if (!fine)
        sparse_entries_free(entries);
    return fine;
}

void sparse_entries_free(struct entries *entries)
{
    free(entries->row);
    free(entries->col);
    free(entries->value);
    *entries = (struct entries){0};
}

void sparse_entries_turn(struct entries *entries, enum sparse_op op)
{
    if (op == OP_NONE)
        return;
    int64_t *row = entries->row, rows = entries->rows;
    entries->row = entries->col;
    entries->col = row;
    entries->rows = entries->cols;
    entries->cols = rows;
    for (int64_t i = 0; op == OP_CONJUGATE && entries->value && i < entries->count; i++)
        entries->value[i] = number_conjugate(entries->value[i]);
}

/* Counting sort by one coordinate: keeps the order of equals. */
static void sort_by(struct entries *entries, bool by_columns, int64_t *place)
{
    int64_t lines = by_columns ? entries->cols : entries->rows, count = entries->count;
    const int64_t *key = by_columns ? entries->col : entries->row;
    int64_t *next = lk_alloc_zeroed(((size_t)lines + 1) * sizeof *next);
    struct entries sorted = *entries;
    size_t room = ((size_t)count + 1) * sizeof(int64_t);
    int64_t *old_place = lk_alloc(room);
    sorted.row = lk_alloc(room);
    sorted.col = lk_alloc(room);
    sorted.value = entries->value ? lk_alloc(((size_t)count + 1) * sizeof *sorted.value) : NULL;
    for (int64_t i = 0; i < count; i++)
        next[key[i] + 1]++;
    for (int64_t i = 0; i < lines; i++)
        next[i + 1] += next[i];
    if (place)
        memcpy(old_place, place, (size_t)count * sizeof *place);
    for (int64_t i = 0; i < count; i++) {
        int64_t to = next[key[i]]++;
        sorted.row[to] = entries->row[i];
        sorted.col[to] = entries->col[i];
        if (sorted.value)
            sorted.value[to] = entries->value[i];
        if (place)
            place[to] = old_place[i];
    }
    free(old_place);
    free(next);
    sparse_entries_free(entries);
    *entries = sorted;
}

void sparse_entries_sort(struct entries *entries, bool by_columns, bool full, int64_t *place)
{
    for (int64_t i = 0; place && i < entries->count; i++)
        place[i] = i;
    if (full)
        sort_by(entries, !by_columns, place);
    sort_by(entries, by_columns, place);
}

int64_t *sparse_row_offsets(const struct entries *entries)
{
    int64_t *offsets = lk_alloc_zeroed(((size_t)entries->rows + 1) * sizeof *offsets);
    for (int64_t i = 0; i < entries->count; i++)
        offsets[entries->row[i] + 1]++;
    for (int64_t i = 0; i < entries->rows; i++)
        offsets[i + 1] += offsets[i];
    return offsets;
}

/* Dense matrices ------------------------------------------------------------------------------- */

static char *line_at(const struct dense_matrix *matrix, int batch, int64_t line)
{
    return shifted(matrix->values, matrix->stride * batch + line * matrix->ld,
                   sparse_type_size(matrix->type));
}

struct number *sparse_dense(const struct dense_matrix *matrix, int batch)
{
    int64_t rows = matrix->rows, cols = matrix->cols;
    bool by_rows = matrix->order == ORDER_ROW;
    int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    struct number *values = lk_alloc(((size_t)rows * (size_t)cols + 1) * sizeof *values);
    for (int64_t i = 0; i < lines; i++) {
        struct number *line = sparse_load(line_at(matrix, batch, i), matrix->type, length);
        if (!line) {
            free(values);
            return NULL;
        }
        for (int64_t k = 0; k < length; k++)
            values[by_rows ? i * cols + k : k * cols + i] = line[k];
        free(line);
    }
    return values;
}

bool sparse_dense_store(const struct dense_matrix *matrix, int batch, const struct number *values)
{
    int64_t rows = matrix->rows, cols = matrix->cols;
    bool by_rows = matrix->order == ORDER_ROW, fine = true;
    int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    struct number *line = lk_alloc(((size_t)length + 1) * sizeof *line);
    for (int64_t i = 0; i < lines && fine; i++) {
        for (int64_t k = 0; k < length; k++)
            line[k] = values[by_rows ? i * cols + k : k * cols + i];
        fine = sparse_store(line_at(matrix, batch, i), matrix->type, line, length);
    }
    free(line);
    return fine;
}
