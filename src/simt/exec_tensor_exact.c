/*
 * exec_tensor_exact.c: the sum of products of one tile for any numbers, as tensor_model.h says.
 * Each output by itself, in 64-bit integers; with infinities, NaN and every subnormal. Slow: what
 * exec_tensor_sum.c can do does not come here.
 */
#include "simt/tensor_wide.h"

/* A float as significand * 2^(exponent - bits): the exponent as the model has it. */
struct term {
    int64_t significand;
    int exponent;
};

static struct term term_of(float x, int lowest, int bits)
{
    if (x == 0)
        return (struct term){0, -126};
    int e;
    double fraction = __builtin_frexp((double)x, &e); /* in [0.5, 1) */
    int exponent = e - 1 > lowest ? e - 1 : lowest;
    return (struct term){(int64_t)__builtin_ldexp(fraction, e - exponent + bits), exponent};
}

/* significand * 2^up, cut toward zero. */
static int64_t shift_cut(int64_t significand, int up)
{
    if (up >= 0)
        return significand * (INT64_C(1) << up);
    if (up < -62)
        return 0;
    uint64_t magnitude = significand < 0 ? -(uint64_t)significand : (uint64_t)significand;
    magnitude >>= -up;
    return significand < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

static float quiet_nan(void)
{
    return num_f32_from(0x7fffffff);
}

/* An exact double to f32, truncated to fraction bits. */
static float cut_to_f32(double x, int fraction)
{
    double magnitude = __builtin_fabs(x);
    if (magnitude >= 0x1p128)
        return x < 0 ? -__builtin_inff() : __builtin_inff();
    if (magnitude == 0)
        return 0;
    int e;
    __builtin_frexp(magnitude, &e);
    int exponent = e - 1 > -126 ? e - 1 : -126;
    int64_t integer = (int64_t)__builtin_ldexp(magnitude, fraction - exponent);
    float result = (float)__builtin_ldexp((double)integer, exponent - fraction);
    return x < 0 ? -result : result;
}

/* An exact double to the nearest f16, as a float. */
static float round_to_f16(double x)
{
    double magnitude = __builtin_fabs(x);
    if (magnitude >= 65520)
        return x < 0 ? -__builtin_inff() : __builtin_inff();
    if (magnitude == 0)
        return 0;
    int e;
    __builtin_frexp(magnitude, &e);
    int exponent = e - 1 > -14 ? e - 1 : -14;
    double scaled = __builtin_ldexp(magnitude, 10 - exponent);
    double rounded = (scaled + 0x1p52) - 0x1p52;
    float result = (float)__builtin_ldexp(rounded, exponent - 10);
    return x < 0 ? -result : result;
}

/* Infinities and NaN among the terms: true, and *result is the sum. */
static bool add_specials(const struct tensor_terms *t, float *result)
{
    double sum = 0; /* of the special terms alone */
    bool special = !__builtin_isfinite(t->c);
    if (special)
        sum = (double)t->c;
    for (unsigned i = 0; i < t->k; i++) {
        if (__builtin_isfinite(t->a[i]) && __builtin_isfinite(t->b[i]))
            continue;
        sum += (double)t->a[i] * (double)t->b[i];
        special = true;
    }
    if (special)
        *result = __builtin_isnan(sum) ? quiet_nan() : (float)sum;
    return special;
}

float SIMT_NAME(tensor_exact_sum)(const struct tensor_model *model, const struct tensor_terms *t)
{
    float special;
    if (add_specials(t, &special))
        return special;
    struct term terms[WIDE_MAX_K + 1]; /* products have 20 bits below the point, c has 23 */
    unsigned k = t->k;
    terms[k] = term_of(t->c, t->c_half ? -14 : -126, 23);
    int top = terms[k].exponent;
    for (unsigned i = 0; i < k; i++) {
        struct term a = term_of(t->a[i], t->a_lowest, 10);
        struct term b = term_of(t->b[i], t->b_lowest, 10);
        terms[i].significand = a.significand * b.significand;
        terms[i].exponent = terms[i].significand ? a.exponent + b.exponent : -126;
        top = terms[i].exponent > top ? terms[i].exponent : top;
    }
    int fraction = model->fraction;
    int64_t sum = shift_cut(terms[k].significand, fraction - 23 + terms[k].exponent - top);
    for (unsigned i = 0; i < k; i++)
        sum += shift_cut(terms[i].significand, fraction - 20 + terms[i].exponent - top);
    double value = __builtin_ldexp((double)sum, top - fraction);
    return t->d_half ? round_to_f16(value) : cut_to_f32(value, model->result);
}

static float a_of(const struct tensor_sum *s, unsigned m, unsigned k)
{
    return s->a[(k / s->piece * s->rows + m) * s->piece + k % s->piece];
}

static float add_chunk(const struct tensor_sum *s, unsigned m, unsigned n, unsigned k,
                       unsigned chunk, float c, bool c_half)
{
    float a[TENSOR_MAX_K], b[TENSOR_MAX_K];
    for (unsigned i = 0; i < chunk; i++) {
        a[i] = a_of(s, m, k + i);
        b[i] = s->b[8 * (k + i) + n];
    }
    const struct tensor_terms terms = {.a = a,
                                       .b = b,
                                       .k = chunk,
                                       .a_lowest = s->a_lowest,
                                       .b_lowest = s->b_lowest,
                                       .c = c,
                                       .c_half = c_half,
                                       .d_half = s->d_half};
    return SIMT_NAME(tensor_exact_sum)(s->model, &terms);
}

static float add_element(const struct tensor_sum *s, unsigned m, unsigned n, float c)
{
    unsigned chunk = s->model->chunk < s->k ? s->model->chunk : s->k;
    float sum = s->model->c_last ? 0 : c;
    for (unsigned k = 0; k < s->k; k += chunk)
        sum = add_chunk(s, m, n, k, chunk, sum, k == 0 ? s->c_half : s->d_half);
    if (s->model->c_last) {
        sum += c;
        sum = __builtin_isnan(sum) ? quiet_nan() : sum;
    }
    return sum;
}

/* Where the accumulator of row m, column tensor_column[n] is; half: f16. */
static unsigned place_of(unsigned m, unsigned n, bool half, unsigned *at)
{
    *at = half ? 16 * (m % 8) + 2 * tensor_column[n] : 16 * (m % 8) + 4 * (n % 4);
    return half ? m / 8 : m / 8 * 2 + n / 4;
}

void SIMT_NAME(tensor_add_exact)(const struct tensor_sum *s, const struct tensor_fragments *f)
{
    float sums[TENSOR_MAX_ROWS][8];
    for (unsigned m = 0; m < s->rows; m++) {
        for (unsigned n = 0; n < 8; n++) {
            unsigned at, reg = place_of(m, n, s->c_half, &at);
            uint16_t half;
            float c;
            memcpy(&half, f->c[reg] + at, 2);
            if (s->c_half)
                c = num_f16_widen(half);
            else
                memcpy(&c, f->c[reg] + at, 4);
            sums[m][n] = add_element(s, m, n, c);
        }
    }
    for (unsigned m = 0; m < s->rows; m++) {
        for (unsigned n = 0; n < 8; n++) {
            unsigned at, reg = place_of(m, n, s->d_half, &at);
            uint16_t half = num_f16_narrow(sums[m][n]);
            if (s->d_half)
                memcpy(f->d[reg] + at, &half, 2);
            else
                memcpy(f->d[reg] + at, &sums[m][n], 4);
        }
    }
}
