/*
 * harness.h: runs one instruction body on a made-up warp, for every instruction set this host has,
 * with all lanes and with some, and checks that lanes outside the mask keep their bits.
 * Also the exact arithmetic that the results are held against: num_pack (itself checked in
 * test_half.c) fed from 113-bit numbers.
 */
#ifndef LOCKSTEP_TESTS_NUM_HARNESS_H
#define LOCKSTEP_TESTS_NUM_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "simt/exec.h"
#include "simt/isa.h"
#include "simt/num_format.h"

typedef simt_body *select_function(const struct simt_operands *operands);
#define DECLARE(isa)                                                                               \
    select_function float_select_##isa, approx_select_##isa, half_select_##isa,                    \
        compare_select_##isa, convert_select_##isa;
#define SELECTS(isa)                                                                               \
    {                                                                                              \
        float_select_##isa, approx_select_##isa, half_select_##isa, compare_select_##isa,          \
            convert_select_##isa                                                                   \
    }
enum group { GROUP_FLOAT, GROUP_APPROX, GROUP_HALF, GROUP_COMPARE, GROUP_CONVERT };

#define ROW(isa) SELECTS(isa),
SIMT_ISAS(DECLARE)
static select_function *const selects[][5] = {SIMT_ISAS(ROW)};

#ifdef __x86_64__
static inline int isa_count(void)
{
    __builtin_cpu_init();
    if (sizeof(selects) / sizeof(*selects) == 1 || !__builtin_cpu_supports("avx2") ||
        !__builtin_cpu_supports("fma"))
        return 1;
    bool has_v4 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    return has_v4 ? 3 : 2;
}
#else
static inline int isa_count(void)
{
    return 1;
}
#endif

/* Instructions -------------------------------------------------------------------------------- */

enum { SLOT_BYTES = 512, SLOT_D = 0, SLOT_D2, SLOT_A, SLOT_B, SLOT_C, SLOTS };

struct bench {
    struct ptx_inst ptx;
    struct simt_operands operands;
    enum group group;
    uint64_t d[32], d2[32], a[32], b[32], c[32]; /* a value a lane; predicates in [0] */
};

/* inst(GROUP, op, d_bits, a_bits, mods .., 0, types .., 0) */
static inline struct bench make(enum group group, enum ptx_op op, unsigned d_bits, unsigned a_bits,
                                ...)
{
    struct bench bench = {.group = group};
    bench.ptx.op = op;
    va_list list;
    va_start(list, a_bits);
    for (int mod, slot = 0; (mod = va_arg(list, int)) != 0; slot++) {
        bench.ptx.mods[mod / 64] |= (uint64_t)1 << (mod % 64);
        bench.ptx.slots[slot] = (uint16_t)mod;
    }
    for (int type; (type = va_arg(list, int)) != 0;)
        bench.ptx.types[bench.ptx.type_count++] = (uint8_t)type;
    va_end(list);
    bench.operands = (struct simt_operands){
        .d_bits = d_bits, .d2_bits = d_bits, .a_bits = a_bits, .b_bits = a_bits, .c_bits = a_bits};
    return bench;
}
static inline void add_mod(struct bench *bench, enum ptx_mod mod)
{
    bench->ptx.mods[mod / 64] |= (uint64_t)1 << (mod % 64);
}

static inline void put(uint8_t *regs, int slot, unsigned bits, const uint64_t *values)
{
    uint8_t *at = regs + slot * SLOT_BYTES;
    if (bits == 1)
        memcpy(at, values, 4);
    for (int i = 0; i < 32 && bits > 1; i++)
        memcpy(at + (size_t)i * (bits < 16 ? 2 : bits / 8), &values[i], bits < 16 ? 2 : bits / 8);
}
static inline void get(const uint8_t *regs, int slot, unsigned bits, uint64_t *values)
{
    const uint8_t *at = regs + slot * SLOT_BYTES;
    memset(values, 0, sizeof(uint64_t) * 32);
    if (bits == 1)
        memcpy(values, at, 4);
    for (int i = 0; i < 32 && bits > 1; i++)
        memcpy(&values[i], at + (size_t)i * (bits < 16 ? 2 : bits / 8), bits < 16 ? 2 : bits / 8);
}

/* Runs on every instruction set; all must agree. d, d2 hold the results in the active lanes.
 * False: there is no body for it. */
static inline bool run_masked(struct bench *bench, uint32_t mask)
{
    static _Alignas(64) uint8_t regs[SLOTS * SLOT_BYTES + 64];
    uint64_t before_d[32], before_d2[32];
    memset(before_d, 0xa5, sizeof(before_d));
    memset(before_d2, 0x5a, sizeof(before_d2));
    bench->operands.ptx = &bench->ptx;
    unsigned d_bits = bench->operands.d_bits;
    for (int isa = 0; isa < isa_count(); isa++) {
        simt_body *body = selects[isa][bench->group](&bench->operands);
        if (!body)
            return false;
        put(regs, SLOT_D, d_bits, before_d);
        put(regs, SLOT_D2, d_bits, before_d2);
        put(regs, SLOT_A, bench->operands.a_bits, bench->a);
        put(regs, SLOT_B, bench->operands.b_bits, bench->b);
        put(regs, SLOT_C, bench->operands.c_bits, bench->c);
        struct simt_warp w = {.regs = regs, .mask = mask, .path_mask = mask, .live = SIMT_ALL};
        struct simt_inst in = {.run = body,
                               .d = SLOT_D * SLOT_BYTES,
                               .d2 = SLOT_D2 * SLOT_BYTES,
                               .a = SLOT_A * SLOT_BYTES,
                               .b = SLOT_B * SLOT_BYTES,
                               .c = SLOT_C * SLOT_BYTES,
                               .guard = SIMT_NO_GUARD,
                               .ptx = &bench->ptx};
        assert_ptr_equal(body(&w, &in), &in + 1);
        uint64_t d[32], d2[32];
        get(regs, SLOT_D, d_bits, d);
        get(regs, SLOT_D2, d_bits, d2);
        uint64_t value_mask = d_bits == 64 ? UINT64_MAX : ((uint64_t)1 << d_bits) - 1;
        if (d_bits == 1) {
            assert_int_equal((d[0] ^ before_d[0]) & 0xffffffff & ~mask, 0);
        } else {
            for (int i = 0; i < 32; i++)
                if (!(mask >> i & 1))
                    assert_int_equal(d[i], before_d[i] & value_mask);
        }
        if (isa > 0) {
            for (int i = 0; i < 32; i++)
                if (d[i] != bench->d[i])
                    fail_msg("op %d lane %d: a %llx b %llx c %llx: isa %d gives %llx, isa 0 %llx",
                             bench->ptx.op, i, (unsigned long long)bench->a[i],
                             (unsigned long long)bench->b[i], (unsigned long long)bench->c[i], isa,
                             (unsigned long long)d[i], (unsigned long long)bench->d[i]);
            assert_memory_equal(d2, bench->d2, sizeof(d2));
        }
        memcpy(bench->d, d, sizeof(d));
        memcpy(bench->d2, d2, sizeof(d2));
    }
    return true;
}
/* With some lanes, then with all. */
static inline bool run(struct bench *bench)
{
    return run_masked(bench, 0x5a0ff0c1) && run_masked(bench, SIMT_ALL);
}
#define ASSERT_LANE(bench, i, expected)                                                            \
    do {                                                                                           \
        uint64_t expected_ = (expected);                                                           \
        if ((bench)->d[i] != expected_)                                                            \
            fail_msg("op %d, round %d: a %llx b %llx c %llx: got %llx, expected %llx",             \
                     (bench)->ptx.op, num_round_of(&(bench)->ptx),                                 \
                     (unsigned long long)(bench)->a[i], (unsigned long long)(bench)->b[i],         \
                     (unsigned long long)(bench)->c[i], (unsigned long long)(bench)->d[i],         \
                     (unsigned long long)expected_);                                               \
    } while (0)

/* Inputs
 * ------------------------------------------------------------------------------------------- */

static inline uint64_t random_bits(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}
/* Random values of a format, with many near the edges: zeros, subnormals, infinities, NaNs, halfway
 * cases, and values near one. */
static inline uint64_t random_float(const struct num_format *format)
{
    int m = format->mantissa_bits;
    uint64_t sign = num_sign_bit(format), bits = random_bits() & (2 * sign - 1);
    uint64_t choice = random_bits() % 16, edge = random_bits() % 8;
    uint64_t bias = ((uint64_t)1 << (format->exponent_bits - 1)) - 1;
    switch (choice) {
    case 0: /* subnormal, zero */
        return (bits & sign) | (edge < 4 ? edge : bits & (((uint64_t)1 << m) - 1));
    case 1: /* about the smallest normal number */
        return (bits & sign) | (((uint64_t)1 << m) + edge - 4);
    case 2: /* about the largest, infinity, NaN */
        return (bits & sign) | (format->infinity + edge - 4);
    case 3: /* powers of two */
        return bits & ~(((uint64_t)1 << m) - 1);
    case 4: /* few bits set */
        return bits & random_bits() & random_bits();
    case 5:
    case 6:
    case 7: /* about one: exponents that meet */
        return (bits & (sign | (((uint64_t)1 << m) - 1))) | (bias + edge - 4) << m;
    default:
        return bits;
    }
}
static inline void fill(uint64_t *values, const struct num_format *format)
{
    for (int i = 0; i < 32; i++)
        values[i] = random_float(format);
}

/* Exact references
 * ------------------------------------------------------------------------------------ */

/* 113 bits of significand; every compiler has another name for it. */
#if !defined(__clang__)
typedef _Float128 quad;
#elif __LDBL_MANT_DIG__ == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

/* A finite 113-bit number, and whether something smaller was cut off, in a format. */
static inline uint64_t pack_quad(const struct num_format *format, quad x, bool sticky,
                                 enum num_round round)
{
    unsigned __int128 bits;
    memcpy(&bits, &x, sizeof(bits));
    bool is_negative = bits >> 127;
    int exponent = (int)(bits >> 112 & 0x7fff);
    unsigned __int128 significand =
        (bits & (((unsigned __int128)1 << 112) - 1)) | (unsigned __int128)(exponent != 0) << 112;
    uint64_t high = (uint64_t)(significand >> 49);
    bool rest = (significand & (((unsigned __int128)1 << 49) - 1)) != 0;
    return num_pack(format, is_negative, high | rest | sticky, exponent - 16383 - 63, round);
}
/* .ftz looks at a result that is rounded as if exponents had no lower end. These formats are f32
 * and f16 with far smaller exponents; is their value below the smallest normal number? */
static const struct num_format wide_f32 = {11, 23, 0x3ff7fffff, 0x3ff800000, 0x3ffffffff};
static const struct num_format wide_f16 = {8, 10, 0x3fbff, 0x3fc00, 0x3ffff};
static inline bool is_below_f32(uint64_t wide)
{
    return (wide & (num_sign_bit(&wide_f32) - 1)) < (uint64_t)(1023 - 126) << 23;
}
static inline bool is_below_f16(uint64_t wide)
{
    return (wide & (num_sign_bit(&wide_f16) - 1)) < (uint64_t)(127 - 14) << 10;
}
/* x + y without error: the sum, its last bit set if it is inexact. */
static inline quad quad_add_odd(quad x, quad y)
{
    quad sum = x + y, y_part = sum - x;
    quad error = (x - (sum - y_part)) + (y - y_part);
    if (error != 0) {
        unsigned __int128 bits;
        memcpy(&bits, &sum, sizeof(bits));
        if ((error < 0) != (sum < 0))
            bits--;
        bits |= 1;
        memcpy(&sum, &bits, sizeof(sum));
    }
    return sum;
}
static inline uint64_t reference_fma(const struct num_format *format, double x, double y, double z,
                                     enum num_round round)
{
    if (isnan(x) || isnan(y) || isnan(z) || isinf(x) || isinf(y)) {
        double r = x * y + z;
        return num_from_f64(format, r, round);
    }
    if (isinf(z))
        return num_from_f64(format, z, round);
    quad product = (quad)x * y, sum = quad_add_odd(product, z);
    if (sum == 0) {
        bool x_negative = signbit(x) != signbit(y), z_negative = signbit(z);
        bool both = product == 0 && z == 0;
        bool negative = both && x_negative == z_negative ? z_negative : round == NUM_RM;
        return negative ? num_sign_bit(format) : 0;
    }
    return pack_quad(format, sum, false, round);
}
static inline uint64_t reference_div(const struct num_format *format, double x, double y,
                                     enum num_round round)
{
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y) || x == 0 || y == 0)
        return num_from_f64(format, x / y, round);
    quad quotient = (quad)x / y;
    unsigned __int128 bits, step = (unsigned __int128)1 << 53; /* 60 bits: times y is exact */
    memcpy(&bits, &quotient, sizeof(bits));
    bits &= ~(step - 1);
    memcpy(&quotient, &bits, sizeof(bits));
    if ((quotient * y > x) == (x > 0) && quotient * y != x) {
        bits -= step;
        memcpy(&quotient, &bits, sizeof(bits));
    }
    return pack_quad(format, quotient, quotient * y != x, round);
}
static inline uint64_t reference_sqrt(const struct num_format *format, double x,
                                      enum num_round round)
{
    if (isnan(x) || isinf(x) || x <= 0)
        return num_from_f64(format, sqrt(x), round);
    quad root = sqrtl((long double)x);
    unsigned __int128 bits, step = (unsigned __int128)1 << 57; /* 56 bits: the square is exact */
    memcpy(&bits, &root, sizeof(bits));
    bits &= ~(step - 1);
    memcpy(&root, &bits, sizeof(bits));
    if (root * root > x) {
        bits -= step;
        memcpy(&root, &bits, sizeof(bits));
    }
    return pack_quad(format, root, root * root != x, round);
}

#endif
