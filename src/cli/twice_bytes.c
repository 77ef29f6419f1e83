/*
 * twice_bytes.c: see twice_bytes.h. Elements are words of 4 bytes unless the kernel's atomics tell
 * more; sums of floating-point numbers that were added in another order differ by rounding alone,
 * which is told from a lost update by its size.
 */
#include "cli/twice_bytes.h"

#include "host/files.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounding errors of many additions stay far below this; a lost addend rarely does. */
static double most_relative(const char *type)
{
    return strcmp(type, "f64") == 0 ? 1e-9 : strcmp(type, "f32") == 0 ? 1e-4 : 0.05;
}

static unsigned width_of(const char *type)
{
    bool is_half = strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0;
    return strcmp(type, "f64") == 0 ? 8 : is_half ? 2 : 4;
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

static double value_at(const uint8_t *bytes, const char *type)
{
    if (strcmp(type, "f64") == 0) {
        double value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (strcmp(type, "f16") == 0) {
        uint16_t half;
        memcpy(&half, bytes, sizeof half);
        return half_value(half);
    }
    uint32_t bits = 0;
    memcpy(strcmp(type, "bf16") == 0 ? (uint8_t *)&bits + 2 : (uint8_t *)&bits, bytes,
           width_of(type));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_value(char text[40], const uint8_t *bytes, const char *type)
{
    if (type[0] != '-') {
        snprintf(text, 40, "%.9g", value_at(bytes, type));
        return;
    }
    uint32_t bits;
    memcpy(&bits, bytes, sizeof bits);
    snprintf(text, 40, "0x%08x", bits);
}

static void measure(const uint8_t *one, const uint8_t *other, size_t size, const char *type,
                    struct twice_bytes *result)
{
    unsigned width = width_of(type);
    result->is_rounding = type[0] != '-';
    for (size_t at = 0; result->is_rounding && at + width <= size; at += width) {
        if (memcmp(one + at, other + at, width) == 0)
            continue;
        double a = value_at(one + at, type), b = value_at(other + at, type), away = fabs(a - b);
        double scale = fmax(fabs(a), fabs(b));
        double relative = scale > 0 ? away / scale : 0;
        result->is_rounding = isfinite(away) && relative <= most_relative(type);
        result->largest = fmax(result->largest, away);
        result->relative = fmax(result->relative, relative);
    }
}

void twice_compare_bytes(const char *one, const char *other, const char *type,
                         struct twice_bytes *result)
{
    struct lk_buf dumps[2] = {{0}, {0}};
    *result = (struct twice_bytes){0};
    if (host_read_file(one, &dumps[0], NULL) && host_read_file(other, &dumps[1], NULL) &&
        dumps[0].size == dumps[1].size) {
        const uint8_t *bytes[2] = {(const uint8_t *)dumps[0].data, (const uint8_t *)dumps[1].data};
        size_t size = dumps[0].size;
        for (size_t i = size; i-- > 0;)
            if (bytes[0][i] != bytes[1][i]) {
                result->first = i;
                result->count++;
            }
        result->known = result->count > 0;
        if (result->known)
            measure(bytes[0], bytes[1], size, type, result);
        if (!result->is_rounding)
            type = "-";
        size_t width = width_of(type), at = result->first / width * width;
        for (int i = 0; result->known && i < 2 && at + width <= size; i++)
            put_value(result->values[i], bytes[i] + at, type);
    }
    lk_buf_free(&dumps[0]);
    lk_buf_free(&dumps[1]);
}
