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

uint16_t zoo_to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value))
        return 0x7fff;
    if (size >= 65520) /* half a unit above the largest */
        return sign | 0x7c00;
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    /* In units of the last place; what rounds up to the next power of two carries by itself. */
    unsigned units = (unsigned)nearbyint(ldexp(size, 10 - exponent));
    return (uint16_t)(sign | (units + (unsigned)(exponent + 14) * 1024));
}

double zoo_get(enum zoo_type type, const void *data, size_t index)
{
    switch (type) {
    case ZOO_F32:
        return ((const float *)data)[index];
    case ZOO_F64:
        return ((const double *)data)[index];
    case ZOO_BF16:
        return zoo_from_bf16(((const uint16_t *)data)[index]);
    case ZOO_F16:
        return zoo_from_f16(((const uint16_t *)data)[index]);
    case ZOO_I32:
        return ((const int32_t *)data)[index];
    case ZOO_U32:
        return ((const uint32_t *)data)[index];
    case ZOO_I64:
        return (double)((const int64_t *)data)[index];
    case ZOO_U8:
        return ((const uint8_t *)data)[index];
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
    case ZOO_BF16:
        ((uint16_t *)data)[index] = zoo_to_bf16((float)value);
        break;
    case ZOO_F16:
        ((uint16_t *)data)[index] = zoo_to_f16(value);
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
    case ZOO_TYPES:
        break;
    }
}
