/*
 * sparse.c: sparse matrices and graphs; see sparse.h. Every row's columns are made by themselves: a
 * range of columns is cut into as many strata as the row has nonzeros, and one column is drawn from
 * each, which gives sorted distinct columns without sorting.
 */
#include "zoo/sparse.h"

#include "zoo/zoo.h"

#include <math.h>

enum { STREAM_LENGTH = 100, STREAM_EMPTY, STREAM_COLUMN };

/* Lengths of rows -------------------------------------------------------------------------------*/

/* Row r starts at (r + jitter) shares of the nonzeros: lengths go from 0 to two shares, and
 * their sum is right by itself. */
static void even_offsets(const struct zoo_sparse *m, int32_t *offsets)
{
    bool jitter = m->pattern == ZOO_SCATTERED && 2 * (m->nonzeros / m->rows + 1) < m->cols;
    offsets[0] = 0;
#pragma omp parallel for schedule(static) if (m->rows > 100000)
    for (int64_t r = 1; r < m->rows; r++) {
        double shift = zoo_random_unit(m->seed, STREAM_LENGTH, (uint64_t)r) - 0.5;
        double start = ((double)r + shift) * (double)m->nonzeros / (double)m->rows;
        offsets[r] = (int32_t)(jitter ? (int64_t)start : r * m->nonzeros / m->rows);
    }
    offsets[m->rows] = (int32_t)m->nonzeros;
}

/* A Pareto law with exponent 1.5, in 1/1024; integers, whose sum does not depend on order. */
static uint64_t weight(const struct zoo_sparse *m, int64_t r)
{
    if (zoo_random_unit(m->seed, STREAM_EMPTY, (uint64_t)r) < 0.1)
        return 0;
    double unit = zoo_random_unit(m->seed, STREAM_LENGTH, (uint64_t)r) + 0x1p-53;
    return (uint64_t)(1024 * pow(unit, -1 / 1.5));
}

/* What rows that would be longer than cols could not take goes to the others, empty ones last. */
static void spread(const struct zoo_sparse *m, int32_t *lengths, int64_t left)
{
    for (bool empty_too = false; left > 0; empty_too = true)
        for (bool room = true; room && left > 0;) {
            int64_t share = (left + m->rows - 1) / m->rows;
            room = false;
            for (int64_t r = 0; r < m->rows && left > 0; r++) {
                int64_t more = m->cols - lengths[r] < share ? m->cols - lengths[r] : share;
                more = more < left ? more : left;
                if (more == 0 || (lengths[r] == 0 && !empty_too))
                    continue;
                lengths[r] += (int32_t)more;
                left -= more;
                room = true;
            }
        }
}

static void power_law_offsets(const struct zoo_sparse *m, int32_t *offsets)
{
    uint64_t total = 0, before = 0;
    int64_t left = m->nonzeros, start = 0, previous = 0;
    int32_t *lengths = offsets + 1;
#pragma omp parallel for schedule(static) reduction(+ : total) if (m->rows > 100000)
    for (int64_t r = 0; r < m->rows; r++)
        total += weight(m, r);
    for (int64_t r = 0; r < m->rows; r++) {
        before += weight(m, r);
        start = total ? (int64_t)((unsigned __int128)before * (uint64_t)m->nonzeros / total) : 0;
        int64_t length = start - previous < m->cols ? start - previous : m->cols;
        previous = start;
        lengths[r] = (int32_t)length;
        left -= length;
    }
    spread(m, lengths, left);
    offsets[0] = 0;
    for (int64_t r = 0; r < m->rows; r++)
        offsets[r + 1] += offsets[r];
}

void zoo_sparse_offsets(const struct zoo_sparse *matrix, int32_t *offsets)
{
    if (matrix->rows == 0 || matrix->nonzeros == 0)
        for (int64_t r = 0; r <= matrix->rows; r++)
            offsets[r] = 0;
    else if (matrix->pattern == ZOO_POWER_LAW)
        power_law_offsets(matrix, offsets);
    else
        even_offsets(matrix, offsets);
}

/* Columns ---------------------------------------------------------------------------------------*/

/* count columns out of [low, low + width), for the nonzeros from first on. */
static void draw(const struct zoo_sparse *m, int32_t *columns, int64_t first, int64_t count,
                 int64_t low, int64_t width)
{
    for (int64_t j = 0; j < count; j++) {
        int64_t from = j * width / count, to = (j + 1) * width / count;
        uint64_t random = zoo_random(m->seed, STREAM_COLUMN, (uint64_t)(first + j));
        int64_t drawn = from + (int64_t)((random >> 32) * (uint64_t)(to - from) >> 32);
        columns[first + j] = (int32_t)(low + drawn);
    }
}

/* A window of this width around the place of row r on the diagonal; returns where it starts. */
static int64_t window(const struct zoo_sparse *m, int64_t r, int64_t width)
{
    int64_t low = (int64_t)((double)r * (double)m->cols / (double)m->rows) - width / 2;
    return low < 0 ? 0 : low > m->cols - width ? m->cols - width : low;
}

static void row_columns(const struct zoo_sparse *m, int64_t r, int64_t first, int64_t count,
                        int32_t *columns)
{
    int64_t times = m->pattern == ZOO_BANDED ? 2 : m->pattern == ZOO_POWER_LAW ? 16 : m->cols;
    int64_t width = count < m->cols / times ? count * times : m->cols;
    int64_t low = window(m, r, width), right = m->cols - low - width;
    int64_t far = m->pattern == ZOO_POWER_LAW && width < m->cols ? count / 2 : 0;
    far = far < low + right ? far : low + right;
    int64_t far_left = far ? far * low / (low + right) : 0;
    draw(m, columns, first, far_left, 0, low);
    draw(m, columns, first + far_left, count - far, low, width);
    draw(m, columns, first + far_left + count - far, far - far_left, low + width, right);
}

void zoo_sparse_columns(const struct zoo_sparse *matrix, const int32_t *offsets, int32_t *columns)
{
#pragma omp parallel for schedule(dynamic, 4096) if (matrix->nonzeros > 100000)
    for (int64_t r = 0; r < matrix->rows; r++)
        row_columns(matrix, r, offsets[r], offsets[r + 1] - offsets[r], columns);
}
