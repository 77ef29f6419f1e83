/*
 * types.h: element types, and their values as double.
 */
#ifndef LOCKSTEP_ZOO_TYPES_H
#define LOCKSTEP_ZOO_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum zoo_type {
#define TYPE(id, name, bytes, what) ZOO_##id,
#include "zoo/types.def"
    ZOO_TYPES
};

extern const char *const zoo_type_names[ZOO_TYPES + 1]; /* ends with NULL */
extern const unsigned char zoo_type_bytes[ZOO_TYPES];

double zoo_get(enum zoo_type type, const void *data, size_t index);
/* Rounds to nearest; integers and e4m3 are cut to their range. */
void zoo_put(enum zoo_type type, void *data, size_t index, double value);

/* Of f32, f16 and bf16: half a unit of the last place, relative; the same of the smallest numbers;
 * where rounding gives infinity. */
struct zoo_precision {
    double unit, least, most;
};
extern const struct zoo_precision zoo_precisions[ZOO_TYPES];

float zoo_from_f16(uint16_t bits);
uint16_t zoo_to_f16(double value);
float zoo_from_e4m3(uint8_t bits);
uint8_t zoo_to_e4m3(double value);
uint8_t zoo_to_e5m2(double value);

static inline float zoo_from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static inline uint16_t zoo_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
