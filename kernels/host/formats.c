/*
 * formats.c: numbers of 4 and 8 bits on the host.
 */
#include "formats.h"

#include "zoo/philox.h"
#include "zoo/types.h"

#include <math.h>

const struct format_facts format_facts[] = {
    [FORMAT_E4M3] = {8, 448, 3, -6, 8, false}, [FORMAT_E5M2] = {8, 57344, 2, -14, 15, false},
    [FORMAT_INT8] = {8, 127, 0, 0, 0, true},   [FORMAT_INT4] = {4, 7, 0, 0, 0, true},
    [FORMAT_E2M1] = {4, 6, 1, 0, 2, false},
};

/* The code for `units` of the last place in the binade of `exponent`, with the sign of x. */
static uint8_t code_of(const struct format_facts *f, float x, int exponent, double units)
{
    if (f->integer) {
        double most = signbit(x) ? (double)f->largest + 1 : (double)f->largest;
        int size = (int)fmin(units, most);
        return (uint8_t)((signbit(x) ? -size : size) & ((1 << f->bits) - 1));
    }
    int size = ((exponent - f->least) << f->mantissa) + (int)units;
    return (uint8_t)(size | (signbit(x) ? 1 << (f->bits - 1) : 0));
}

static uint8_t code_of_nan(enum number_format format)
{
    return format == FORMAT_E4M3 || format == FORMAT_E5M2 ? 0x7f : format == FORMAT_E2M1 ? 7 : 0;
}

/* |x| in units of the last place that it would have, exactly; above the largest number, that. */
static double in_units(const struct format_facts *f, float x, int *exponent)
{
    double size = fabs((double)x), most = f->integer ? 0x1p20 : (double)f->largest;
    size = size > most ? most : size;
    *exponent = size == 0 || f->integer || ilogb(size) < f->least ? f->least : ilogb(size);
    return ldexp(size, f->mantissa - *exponent);
}

uint8_t format_nearest(enum number_format format, float x)
{
    const struct format_facts *f = &format_facts[format];
    int exponent;
    if (isnan(x))
        return code_of_nan(format);
    double units = in_units(f, x, &exponent);
    return code_of(f, x, exponent, nearbyint(units));
}

uint8_t format_stochastic(enum number_format format, float x, uint32_t random)
{
    const struct format_facts *f = &format_facts[format];
    int exponent;
    if (isnan(x))
        return code_of_nan(format);
    double units = in_units(f, x, &exponent), whole = floor(units);
    return code_of(f, x, exponent, whole + (ldexp(random, -24) < units - whole ? 1 : 0));
}

float format_number(enum number_format format, uint8_t code)
{
    static const float sizes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    switch (format) {
    case FORMAT_E4M3:
        return zoo_from_e4m3(code);
    case FORMAT_E5M2:
        return zoo_from_f16((uint16_t)(code << 8));
    case FORMAT_INT8:
        return (int8_t)code;
    case FORMAT_INT4:
        return (float)((code & 15) ^ 8) - 8;
    case FORMAT_E2M1:
        return code & 8 ? -sizes[code & 7] : sizes[code & 7];
    }
    return NAN;
}

float format_factor(float target, float largest)
{
    return largest > 0x1p-110f ? target / largest : 1;
}
float format_scale(float target, float largest)
{
    return largest > 0x1p-110f ? largest / target : 1;
}

uint8_t format_e8m0(float largest, int top)
{
    uint32_t bits;
    memcpy(&bits, &largest, sizeof bits);
    int scale = (int)(bits >> 23) - top;
    return (uint8_t)(scale < 0 ? 0 : scale);
}
float format_from_e8m0(uint8_t scale)
{
    return scale == 255 ? NAN : ldexpf(1, scale - 127);
}

uint8_t format_nvfp4_scale(float largest, float encode)
{
    float scaled = largest * encode;
    return format_nearest(FORMAT_E4M3, scaled * (1.0f / 6));
}
float format_nvfp4_factor(uint8_t scale, float encode)
{
    return scale == 0 ? 0 : encode / format_number(FORMAT_E4M3, scale);
}

uint32_t format_random(uint64_t key, int64_t row, int64_t col)
{
    const uint32_t place[4] = {(uint32_t)(col / 4), (uint32_t)row, (uint32_t)(row >> 32), 0};
    const uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t words[4];
    zoo_philox(place, keys, words);
    return words[col % 4] >> 8;
}
