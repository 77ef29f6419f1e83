/*
 * reference.c: what a product of 8-bit matrices must be, and how far off it may be. All products
 * are whole multiples of the smallest one, so that sums are made in integers, without any error;
 * and what the tensor cores lose follows from their arithmetic:
 *
 *   One instruction adds 32 products to a sum. Every term is cut at 2^-13 of the largest one's
 *   exponent, and so is the result at 2^-13 of its own. What is cut off a product is known; of a
 *   sum that is no longer exact, up to one unit.
 */
#include "gemm_scaled.h"

#include <math.h>
#include <stdlib.h>

enum { STEP = 32, KEPT = 13 };
#define SINGLE 0x1p-24 /* half a unit of f32 */

/* Numbers as multiples of 2^-(a's and b's), and whether one is no number or infinite. */
struct numbers {
    int64_t a[256], b[256];
    bool a_special[256], b_special[256];
    double unit; /* of a product */
};

static double fill_table(enum zoo_type type, int64_t *table, bool *special)
{
    double unit = type == ZOO_S8 ? 1 : type == ZOO_E4M3 ? 0x1p-9 : 0x1p-16;
    for (int i = 0; i < 256; i++) {
        unsigned char bits = (unsigned char)i;
        double value = zoo_get(type, &bits, 0);
        special[i] = !isfinite(value);
        table[i] = special[i] ? 0 : (int64_t)(value / unit);
    }
    return unit;
}

/* A sum in units, what may be missing of it, and the sum of the products' sizes. */
struct sum {
    int64_t value;
    double error, size;
};

static int64_t size_of(int64_t x)
{
    return x < 0 ? -x : x;
}

/* What is cut off below 2^-13 of the largest power of two in `largest`. */
static int64_t unit_under(double largest)
{
    return largest < (double)(1 << KEPT) ? 1 : (int64_t)1 << (ilogb(largest) - KEPT);
}

/* One instruction of the tensor cores. */
static void add_step(struct sum *sum, const int64_t *a, const unsigned char *b,
                     const int64_t *table, int64_t count)
{
    int64_t product[STEP], most = 0, total = 0, size = 0, cut = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t p = a[i] * table[b[i]];
        product[i] = size_of(p);
        most = product[i] > most ? product[i] : most;
        size += product[i];
        total += p;
    }
    int64_t unit = unit_under(fmax((double)most, (double)size_of(sum->value) + sum->error));
    if (unit > 1)
        for (int64_t i = 0; i < count; i++)
            cut += product[i] & (unit - 1);
    double lost = sum->error == 0 ? (double)(size_of(sum->value) & (unit - 1))
                                  : (double)(unit > 1 ? unit : 0);
    sum->error += (double)cut + lost;
    sum->value += total;
    sum->size += (double)size;
    unit = unit_under((double)size_of(sum->value) + sum->error);
    sum->error += sum->error == 0 ? (double)(size_of(sum->value) & (unit - 1))
                                  : (double)(unit > 1 ? unit : 0);
}

/* One matrix of the batch: its factors, their scales and where they are in D. */
struct matrix {
    const struct zoo_problem *problem;
    const struct numbers *numbers;
    void *const *buffer;
    const unsigned char *a, *b;
    const float *a_scale, *b_scale;
    int64_t number;
};

static struct matrix matrix_of(const struct zoo_problem *problem, const struct numbers *numbers,
                               void *const *buffer, int64_t number)
{
    const int64_t *v = problem->value;
    enum scaled_scaling scaling = (enum scaled_scaling)v[SCALED_SCALES];
    return (struct matrix){
        problem,
        numbers,
        buffer,
        (const unsigned char *)buffer[SCALED_A] + number * v[SCALED_M] * v[SCALED_K],
        (const unsigned char *)buffer[SCALED_B] + number * v[SCALED_N] * v[SCALED_K],
        (const float *)buffer[SCALED_A_SCALE] +
            number * scaled_count_a(scaling, v[SCALED_M], v[SCALED_K]),
        (const float *)buffer[SCALED_B_SCALE] +
            number * scaled_count_b(scaling, v[SCALED_N], v[SCALED_K]),
        number};
}

/* Row `row` of A, in units, times a column; before the scales of lines and tensors. */
static struct gemm_result one_sum(const struct matrix *x, const int64_t *a, int64_t row,
                                  int64_t column)
{
    const int64_t *v = x->problem->value;
    int64_t m = v[SCALED_M], k = v[SCALED_K], blocks = (k + SCALE_BLOCK - 1) / SCALE_BLOCK;
    bool by_blocks = v[SCALED_SCALES] == SCALE_BLOCKS, exact = v[SCALED_TYPE] == SCALED_S8;
    bool fast = !exact && !by_blocks && v[SCALED_SUMS];
    const unsigned char *b = x->b + column * k;
    struct gemm_result result = {0, 0};
    struct sum sum = {0, 0, 0};
    double size = 0;
    for (int64_t block = 0; block < blocks; block++) {
        double scale = 1;
        int64_t end = block * SCALE_BLOCK + SCALE_BLOCK;
        if (by_blocks)
            scale = (double)x->a_scale[block * m + row] *
                    (double)x->b_scale[column / SCALE_BLOCK * blocks + block];
        for (int64_t i = block * SCALE_BLOCK; i < k && i < end; i += STEP)
            add_step(&sum, a + i, b + i, x->numbers->b, k - i < STEP ? k - i : STEP);
        if (fast && block < blocks - 1)
            continue;
        result.value += scale * (double)sum.value;
        result.error += exact ? 0 : scale * sum.error;
        size += scale * sum.size;
        sum = (struct sum){0, 0, 0};
    }
    /* In f32: sums within a block (without tensor cores), of the blocks, and with their scales. */
    if (!exact)
        result.error += (double)(SCALE_BLOCK + blocks + 4) * SINGLE * size;
    return (struct gemm_result){result.value * x->numbers->unit, result.error * x->numbers->unit};
}

static double scale_of(const struct matrix *x, int64_t row, int64_t column)
{
    enum scaled_scaling scaling = (enum scaled_scaling)x->problem->value[SCALED_SCALES];
    if (scaling == SCALE_BLOCKS)
        return 1;
    bool lines = scaling == SCALE_LINES;
    return (double)x->a_scale[lines ? row : 0] * (double)x->b_scale[lines ? column : 0];
}

/* What is added to a sum that has its scales; then its activation. */
static struct gemm_result finish(const struct matrix *x, struct gemm_result sum, int64_t row,
                                 int64_t column)
{
    const int64_t *v = x->problem->value;
    const struct gemm_epilogue *e = scaled_epilogue_of(x->problem);
    enum zoo_type type = scaled_type_added(x->problem);
    sum.value *= (double)e->alpha;
    sum.error = fabs((double)e->alpha) * sum.error +
                5 * SINGLE * fabs(sum.value); /* conversion from s32, up to four factors */
    if (v[SCALED_EPILOGUE] == 0)
        return sum;
    double size = fabs(sum.value), c = 0, bias = 0;
    if (e->beta != 0)
        c = (double)e->beta *
            zoo_get(type, x->buffer[SCALED_C],
                    (size_t)((x->number * v[SCALED_M] + row) * v[SCALED_N] + column));
    if (e->bias)
        bias = zoo_get(type, x->buffer[SCALED_BIAS], (size_t)(e->bias_down ? row : column));
    sum.value += c + bias;
    sum.error += 4 * SINGLE * (size + fabs(c) + fabs(bias));
    return gemm_activate(sum, e->activation);
}

/* Times D's own scale, and rounded to its type; e4m3 ends at 448, f16 goes to infinity. */
static struct gemm_result stored(struct gemm_result x, enum scaled_stored type, double scale)
{
    static const double units[] = {0x1p-8, 0x1p-11, SINGLE, 0x1p-4};
    static const double least[] = {0x1p-134, 0x1p-25, 0, 0x1p-10};
    x.value *= scale;
    x.error = x.error * scale + 2 * SINGLE * fabs(x.value);
    if (type == STORE_F16 && fabs(x.value) + x.error >= 65520)
        return fabs(x.value) - x.error >= 65520
                   ? (struct gemm_result){x.value < 0 ? -INFINITY : INFINITY, 0}
                   : (struct gemm_result){x.value, INFINITY};
    x.error += (fabs(x.value) + x.error) * units[type] * 1.0001 + least[type];
    if (type == STORE_E4M3)
        x.value = fmax(-448, fmin(448, x.value));
    return x;
}

/* With NaN or infinities among the factors: they are all that counts. */
static double special_sum(const struct matrix *x, int64_t row, int64_t column)
{
    int64_t k = x->problem->value[SCALED_K];
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += zoo_get(scaled_type_of_a(x->problem), x->a, (size_t)(row * k + i)) *
               zoo_get(scaled_type_of_b(x->problem), x->b, (size_t)(column * k + i));
    return sum;
}

static bool has_special(const unsigned char *line, const bool *special, int64_t k)
{
    bool has = false;
    for (int64_t i = 0; i < k; i++)
        has |= special[line[i]];
    return has;
}

/* The row's numbers before they are stored; `special` are those that need no more. */
static void make_row(const struct matrix *x, int64_t *a, int64_t row, struct gemm_result *results,
                     bool *special)
{
    const int64_t *v = x->problem->value;
    int64_t n = v[SCALED_N], k = v[SCALED_K];
    const unsigned char *line = x->a + row * k;
    bool of_a = has_special(line, x->numbers->a_special, k);
    for (int64_t i = 0; i < k; i++)
        a[i] = x->numbers->a[line[i]];
    for (int64_t column = 0; column < n; column++) {
        special[column] = of_a || has_special(x->b + column * k, x->numbers->b_special, k);
        if (special[column]) {
            results[column] = (struct gemm_result){special_sum(x, row, column), 0};
        } else {
            double scale = scale_of(x, row, column);
            struct gemm_result sum = one_sum(x, a, row, column);
            sum = (struct gemm_result){sum.value * scale, sum.error * scale};
            results[column] = finish(x, sum, row, column);
        }
    }
    if (scaled_epilogue_of(x->problem)->activation == GEMM_GATE)
        for (int64_t column = 0; column < n / 2; column++) {
            results[column] = gemm_gate(results[2 * column], results[2 * column + 1]);
            special[column] = special[2 * column] || special[2 * column + 1];
        }
}

/* `count` neighbours from D's element `at` on, with one scale that the kernel computes: the largest
 * of them becomes 448. Returns what that scale must be. */
static struct gemm_result quantise(const struct gemm_result *results, int64_t count,
                                   struct zoo_expected *d, int64_t at)
{
    double largest = 0, error = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(results[i].value));
        error = fmax(error, results[i].error);
    }
    if (largest <= error) { /* 0 has the scale 1; of what may be 0, nothing is known */
        for (int64_t i = 0; i < count; i++)
            d->bound[at + i] = error > 0 ? INFINITY : 0;
        return (struct gemm_result){1, error > 0 ? INFINITY : 0};
    }
    /* So far off may the largest number be, in parts of itself, and the division. */
    double off = error / (largest - error) + 4 * SINGLE;
    struct gemm_result scale = {largest / 448, largest / 448 * off};
    for (int64_t i = 0; i < count; i++) {
        struct gemm_result x = results[i];
        x.error += (fabs(x.value) + x.error) * off;
        x = stored(x, STORE_E4M3, 1 / scale.value);
        d->value[at + i] = x.value;
        d->bound[at + i] = x.error;
    }
    return scale;
}

static void quantise_row(const struct matrix *x, const struct gemm_result *results, int64_t row,
                         struct zoo_expected *expected)
{
    int64_t m = x->problem->value[SCALED_M], columns = scaled_columns(x->problem);
    bool by_blocks = scaled_quantised_of(x->problem) == SCALE_BLOCKS;
    int64_t width = by_blocks ? SCALE_BLOCK : columns;
    int64_t scales = by_blocks ? (columns + SCALE_BLOCK - 1) / SCALE_BLOCK : 1;
    for (int64_t i = 0; i < scales; i++) {
        int64_t left = columns - i * width, at = (x->number * scales + i) * m + row;
        struct gemm_result scale =
            quantise(results + i * width, left < width ? left : width, &expected[SCALED_D],
                     (x->number * m + row) * columns + i * width);
        expected[SCALED_D_SCALE].value[at] = scale.value;
        expected[SCALED_D_SCALE].bound[at] = scale.error;
    }
}

static void store_row(const struct matrix *x, const struct gemm_result *results,
                      const bool *special, int64_t row, struct zoo_expected *d)
{
    enum scaled_stored type = scaled_stored_of(x->problem);
    int64_t columns = scaled_columns(x->problem);
    double scale = x->problem->value[SCALED_OUT] == OUT_E4M3
                       ? (double)((const float *)x->buffer[SCALED_D_SCALE])[0]
                       : 1;
    for (int64_t column = 0; column < columns; column++) {
        int64_t at = (x->number * x->problem->value[SCALED_M] + row) * columns + column;
        struct gemm_result result = results[column];
        if (!special[column])
            result = stored(result, type, scale);
        else if (type == STORE_E4M3 && isinf(result.value))
            result.value = copysign(448, result.value);
        d->value[at] = result.value;
        d->bound[at] = result.error;
    }
}

void scaled_reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const int64_t *v = problem->value;
    bool quantises = scaled_quantised_of(problem) != SCALE_TENSORS;
    struct numbers *numbers = calloc(1, sizeof *numbers);
    if (!numbers)
        abort();
    numbers->unit = fill_table(scaled_type_of_a(problem), numbers->a, numbers->a_special) *
                    fill_table(scaled_type_of_b(problem), numbers->b, numbers->b_special);
#pragma omp parallel
    {
        int64_t *a = calloc((size_t)v[SCALED_K] + 1, sizeof *a);
        struct gemm_result *results = calloc((size_t)v[SCALED_N] + 1, sizeof *results);
        bool *special = calloc((size_t)v[SCALED_N] + 1, sizeof *special);
        if (!a || !results || !special)
            abort();
#pragma omp for schedule(dynamic, 4)
        for (int64_t line = 0; line < v[SCALED_BATCH] * v[SCALED_M]; line++) {
            struct matrix x = matrix_of(problem, numbers, buffer, line / v[SCALED_M]);
            make_row(&x, a, line % v[SCALED_M], results, special);
            if (quantises)
                quantise_row(&x, results, line % v[SCALED_M], expected);
            else
                store_row(&x, results, special, line % v[SCALED_M], &expected[SCALED_D]);
        }
        free(a);
        free(results);
        free(special);
    }
    free(numbers);
}
