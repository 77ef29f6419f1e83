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

/* A number and what its error may be. */
struct result {
    double value, error;
};

/* Row `row` of A, in units, times a column; before the scales of lines and tensors. */
static struct result one_sum(const struct zoo_problem *problem, const struct numbers *numbers,
                             void *const *buffer, const int64_t *a, int64_t row, int64_t column)
{
    int64_t m = problem->value[SCALED_M], k = problem->value[SCALED_K];
    int64_t blocks = (k + SCALE_BLOCK - 1) / SCALE_BLOCK;
    bool by_blocks = problem->value[SCALED_SCALES] == SCALE_BLOCKS;
    bool exact = problem->value[SCALED_TYPE] == SCALED_S8;
    bool fast = !exact && !by_blocks && problem->value[SCALED_SUMS];
    const unsigned char *b = (const unsigned char *)buffer[SCALED_B] + column * k;
    struct result result = {0, 0};
    struct sum sum = {0, 0, 0};
    double size = 0;
    for (int64_t block = 0; block < blocks; block++) {
        double scale = 1;
        int64_t end = block * SCALE_BLOCK + SCALE_BLOCK;
        if (by_blocks)
            scale =
                (double)((const float *)buffer[SCALED_A_SCALE])[block * m + row] *
                (double)((
                    const float *)buffer[SCALED_B_SCALE])[column / SCALE_BLOCK * blocks + block];
        for (int64_t i = block * SCALE_BLOCK; i < k && i < end; i += STEP)
            add_step(&sum, a + i, b + i, numbers->b, k - i < STEP ? k - i : STEP);
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
    return (struct result){result.value * numbers->unit, result.error * numbers->unit};
}

static double scale_of(const struct zoo_problem *problem, void *const *buffer, int64_t row,
                       int64_t column)
{
    const float *a = buffer[SCALED_A_SCALE], *b = buffer[SCALED_B_SCALE];
    double scale = 1;
    if (problem->value[SCALED_SCALES] == SCALE_TENSORS)
        scale = (double)a[0] * (double)b[0];
    else if (problem->value[SCALED_SCALES] == SCALE_LINES)
        scale = (double)a[row] * (double)b[column];
    if (problem->value[SCALED_OUT] == STORE_E4M3)
        scale *= (double)((const float *)buffer[SCALED_D_SCALE])[0];
    return scale;
}

/* Rounded to the type of D; e4m3 ends at 448, f16 goes to infinity. */
static struct result stored(struct result x, enum scaled_stored type)
{
    static const double units[] = {0x1p-8, 0x1p-11, SINGLE, 0x1p-4};
    static const double least[] = {0x1p-134, 0x1p-25, 0, 0x1p-10};
    x.error += 5 * SINGLE * fabs(x.value); /* conversion from s32, up to four factors */
    if (type == STORE_F16 && fabs(x.value) + x.error >= 65520)
        return fabs(x.value) - x.error >= 65520
                   ? (struct result){x.value < 0 ? -INFINITY : INFINITY, 0}
                   : (struct result){x.value, INFINITY};
    x.error += (fabs(x.value) + x.error) * units[type] * 1.0001 + least[type];
    if (type == STORE_E4M3)
        x.value = fmax(-448, fmin(448, x.value));
    return x;
}

/* With NaN or infinities among the factors: they are all that counts. */
static double special_sum(const struct zoo_problem *problem, void *const *buffer, int64_t row,
                          int64_t column)
{
    int64_t k = problem->value[SCALED_K];
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += zoo_get(scaled_type_of_a(problem), buffer[SCALED_A], (size_t)(row * k + i)) *
               zoo_get(scaled_type_of_b(problem), buffer[SCALED_B], (size_t)(column * k + i));
    return sum;
}

static bool has_special(const unsigned char *line, const bool *special, int64_t k)
{
    bool has = false;
    for (int64_t i = 0; i < k; i++)
        has |= special[line[i]];
    return has;
}

static void one_row(const struct zoo_problem *problem, const struct numbers *numbers,
                    void *const *buffer, int64_t *a, int64_t row, struct zoo_expected *expected)
{
    int64_t n = problem->value[SCALED_N], k = problem->value[SCALED_K];
    const unsigned char *line = (const unsigned char *)buffer[SCALED_A] + row * k;
    enum scaled_stored type = (enum scaled_stored)problem->value[SCALED_OUT];
    bool special = has_special(line, numbers->a_special, k);
    for (int64_t i = 0; i < k; i++)
        a[i] = numbers->a[line[i]];
    for (int64_t column = 0; column < n; column++) {
        const unsigned char *b = (const unsigned char *)buffer[SCALED_B] + column * k;
        struct result x = {0, 0};
        if (special || has_special(b, numbers->b_special, k)) {
            x.value = special_sum(problem, buffer, row, column);
            if (type == STORE_E4M3 && isinf(x.value))
                x.value = copysign(448, x.value);
        } else {
            double scale = scale_of(problem, buffer, row, column);
            x = one_sum(problem, numbers, buffer, a, row, column);
            x = stored((struct result){x.value * scale, x.error * scale}, type);
        }
        expected->value[row * n + column] = x.value;
        expected->bound[row * n + column] = x.error;
    }
}

void scaled_reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    struct numbers *numbers = calloc(1, sizeof *numbers);
    if (!numbers)
        abort();
    numbers->unit = fill_table(scaled_type_of_a(problem), numbers->a, numbers->a_special) *
                    fill_table(scaled_type_of_b(problem), numbers->b, numbers->b_special);
#pragma omp parallel
    {
        int64_t *a = calloc((size_t)problem->value[SCALED_K] + 1, sizeof *a);
        if (!a)
            abort();
#pragma omp for schedule(dynamic, 4)
        for (int64_t row = 0; row < problem->value[SCALED_M]; row++)
            one_row(problem, numbers, buffer, a, row, &expected[SCALED_D]);
        free(a);
    }
    free(numbers);
}
