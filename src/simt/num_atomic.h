/*
 * num_atomic.h: sums, minima and maxima of floats as atomics and bulk reductions make them.
 * Operands and results are bits, since the memory's bits are what is compared.
 */
#ifndef LOCKSTEP_SIMT_NUM_ATOMIC_H
#define LOCKSTEP_SIMT_NUM_ATOMIC_H

#include "simt/num_half.h"

#include <math.h>
#include <string.h>

static inline uint32_t add_f32(uint32_t x, uint32_t y, bool flush)
{
    float a, b, sum;
    uint32_t bits;
    if (flush) {
        x = x & 0x7f800000 ? x : x & 0x80000000;
        y = y & 0x7f800000 ? y : y & 0x80000000;
    }
    memcpy(&a, &x, 4);
    memcpy(&b, &y, 4);
    sum = a + b;
    memcpy(&bits, &sum, 4);
    if (sum != sum)
        return 0x7fffffff;
    return flush && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
}

static inline uint64_t add_f64(uint64_t x, uint64_t y)
{
    double a, b;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    a += b;
    memcpy(&x, &a, 8);
    return x;
}

static inline uint16_t num_add_f16(uint16_t x, uint16_t y)
{
    return num_f16_narrow(num_f16_widen(x) + num_f16_widen(y));
}
static inline uint16_t num_add_bf16(uint16_t x, uint16_t y)
{
    return num_bf16_narrow(num_bf16_widen(x) + num_bf16_widen(y));
}

#define PICK(name, to_f32, is_better)                                                              \
    static inline uint16_t name(uint16_t x, uint16_t y)                                            \
    {                                                                                              \
        float a = to_f32(x), b = to_f32(y);                                                        \
        if (a != a)                                                                                \
            return b != b ? 0x7fff : y;                                                            \
        if (b != b)                                                                                \
            return x;                                                                              \
        return is_better ? x : y;                                                                  \
    }
PICK(num_min_f16, num_f16_widen, a < b || (a == b && signbit(a)))
PICK(num_max_f16, num_f16_widen, a > b || (a == b && !signbit(a)))
PICK(num_min_bf16, num_bf16_widen, a < b || (a == b && signbit(a)))
PICK(num_max_bf16, num_bf16_widen, a > b || (a == b && !signbit(a)))
#undef PICK

#endif
