/*
 * types.c: element types by name, and their values as double.
 */
#include "zoo/types.h"

#include <math.h>

const char *const zoo_type_names[ZOO_TYPES + 1] = {
#define TYPE(id, name, bytes, what) name,
#include "zoo/types.def"
};

const unsigned char zoo_type_bytes[ZOO_TYPES] = {
#define TYPE(id, name, bytes, what) bytes,
#include "zoo/types.def"
};

float zoo_from_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, size = bits & 0x7fff;
    float value = (float)size * 0x1p-24f; /* subnormal */
    if (size >= 0x0400) {
        uint32_t wide = (size << 13) + (size >= 0x7c00 ? 0x70000000 : 0x38000000);
        memcpy(&value, &wide, sizeof value);
    }
    return sign ? -value : value;
}

uint16_t zoo_to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value))
        return 0x7fff;
    if (size >= 65520) /* halfway from the largest number to the next */
        return sign | 0x7c00;
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    return (uint16_t)(sign + (exponent + 14) * 1024 + (int)nearbyint(ldexp(size, 10 - exponent)));
}

float zoo_from_e4m3(uint8_t bits)
{
    int exponent = bits >> 3 & 15, mantissa = bits & 7;
    float size =
        exponent ? ldexpf((float)(8 + mantissa), exponent - 10) : (float)mantissa * 0x1p-9f;
    if ((bits & 0x7f) == 0x7f)
        size = NAN;
    return bits & 0x80 ? -size : size;
}

uint8_t zoo_to_e4m3(double value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    double size = fabs(value);
    if (isnan(value))
        return 0x7f;
    if (size > 448)
        size = 448;
    int exponent = size < 0x1p-6 ? -6 : ilogb(size);
    return (uint8_t)(sign + (exponent + 6) * 8 + (int)nearbyint(ldexp(size, 3 - exponent)));
}

uint8_t zoo_to_e5m2(double value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    double size = fabs(value);
    if (isnan(value))
        return 0x7f;
    if (size >= 61440) /* halfway from the largest number to the next */
        return sign | 0x7c;
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    return (uint8_t)(sign + (exponent + 14) * 4 + (int)nearbyint(ldexp(size, 2 - exponent)));
}

const struct zoo_precision zoo_precisions[ZOO_TYPES] = {
    [ZOO_F32] = {0x1p-24, 0x1p-149, 0x1.ffffffp127},
    [ZOO_F16] = {0x1p-11, 0x1p-25, 65520},
    [ZOO_BF16] = {0x1p-8, 0x1p-134, 0x1.ffp127},
};

double zoo_get(enum zoo_type type, const void *data, size_t index)
{
    switch (type) {
    case ZOO_F32:
        return ((const float *)data)[index];
    case ZOO_F64:
        return ((const double *)data)[index];
    case ZOO_F16:
        return zoo_from_f16(((const uint16_t *)data)[index]);
    case ZOO_BF16:
        return zoo_from_bf16(((const uint16_t *)data)[index]);
    case ZOO_I32:
        return ((const int32_t *)data)[index];
    case ZOO_U32:
        return ((const uint32_t *)data)[index];
    case ZOO_I64:
        return (double)((const int64_t *)data)[index];
    case ZOO_U8:
        return ((const uint8_t *)data)[index];
    case ZOO_S8:
        return ((const int8_t *)data)[index];
    case ZOO_E4M3:
        return zoo_from_e4m3(((const uint8_t *)data)[index]);
    case ZOO_E5M2: /* the upper half of an f16 */
        return zoo_from_f16((uint16_t)(((const uint8_t *)data)[index] << 8));
    case ZOO_TYPES:
        break;
    }
    return NAN;
}

static double cut(double value, double least, double most)
{
    return value < least ? least : value > most ? most : nearbyint(value);
}

void zoo_put(enum zoo_type type, void *data, size_t index, double value)
{
    switch (type) {
    case ZOO_F32:
        ((float *)data)[index] = (float)value;
        break;
    case ZOO_F64:
        ((double *)data)[index] = value;
        break;
    case ZOO_F16:
        ((uint16_t *)data)[index] = zoo_to_f16(value);
        break;
    case ZOO_BF16:
        ((uint16_t *)data)[index] = zoo_to_bf16((float)value);
        break;
    case ZOO_I32:
        ((int32_t *)data)[index] = (int32_t)cut(value, INT32_MIN, INT32_MAX);
        break;
    case ZOO_U32:
        ((uint32_t *)data)[index] = (uint32_t)cut(value, 0, UINT32_MAX);
        break;
    case ZOO_I64: /* the largest double under 2^63 */
        ((int64_t *)data)[index] = (int64_t)cut(value, -0x1p63, 0x1.fffffffffffffp62);
        break;
    case ZOO_U8:
        ((uint8_t *)data)[index] = (uint8_t)cut(value, 0, UINT8_MAX);
        break;
    case ZOO_S8:
        ((int8_t *)data)[index] = (int8_t)cut(value, INT8_MIN, INT8_MAX);
        break;
    case ZOO_E4M3:
        ((uint8_t *)data)[index] = zoo_to_e4m3(value);
        break;
    case ZOO_E5M2:
        ((uint8_t *)data)[index] = zoo_to_e5m2(value);
        break;
    case ZOO_TYPES:
        break;
    }
}
