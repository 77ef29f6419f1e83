/*
 * expr.c: constant expressions, evaluated while they are read.
 * Integers are 64-bit, signed until something makes them unsigned, as in C; floating-point
 * expressions are f64. Registers and addresses never occur in them.
 */
#include "ptx/front.h"

static struct ptx_value parse_ternary(struct ptx_parser *p);
static struct ptx_value parse_unary(struct ptx_parser *p);

static struct ptx_value make_int(uint64_t bits, bool is_unsigned)
{
    return (struct ptx_value){.kind = is_unsigned ? PTX_VALUE_UNSIGNED : PTX_VALUE_SIGNED,
                              .bits = bits};
}

static bool is_true(struct ptx_value value)
{
    return value.kind == PTX_VALUE_FLOAT ? value.real != 0 : value.bits != 0;
}

static double to_real(struct ptx_value value)
{
    if (value.kind == PTX_VALUE_FLOAT)
        return value.real;
    return value.kind == PTX_VALUE_SIGNED ? (double)(int64_t)value.bits : (double)value.bits;
}

static struct ptx_value parse_cast_or_parens(struct ptx_parser *p)
{
    ptx_expect(p, '(');
    if (ptx_is_dot(p, ".s64") || ptx_is_dot(p, ".u64")) {
        bool is_unsigned = ptx_is_dot(p, ".u64");
        ptx_next(p);
        ptx_expect(p, ')');
        uint32_t offset = p->token.start;
        ptx_enter(p);
        struct ptx_value value = parse_unary(p);
        ptx_leave(p);
        if (value.kind == PTX_VALUE_FLOAT)
            ptx_fail(p, offset, "a cast takes an integer constant");
        return make_int(value.bits, is_unsigned);
    }
    struct ptx_value value = parse_ternary(p);
    ptx_expect(p, ')');
    value.is_hex_float = false;
    return value;
}

static struct ptx_value parse_primary(struct ptx_parser *p)
{
    struct ptx_value value = {0};
    switch (p->token.kind) {
    case PTX_TOKEN_INT:
        value = make_int(p->token.value, p->token.is_unsigned);
        break;
    case PTX_TOKEN_FLOAT:
    case PTX_TOKEN_FLOAT_HEX:
        value.kind = PTX_VALUE_FLOAT;
        value.is_hex_float = p->token.kind == PTX_TOKEN_FLOAT_HEX;
        value.is_single = value.is_hex_float && p->token.is_single;
        value.real = p->token.real;
        value.bits = p->token.value;
        break;
    default:
        if (ptx_is_punct(p, '('))
            return parse_cast_or_parens(p);
        if (!ptx_is_word(p, "WARP_SZ"))
            ptx_fail_expected(p, "a constant");
        value = make_int(32, false);
    }
    ptx_next(p);
    return value;
}

static struct ptx_value parse_unary(struct ptx_parser *p)
{
    uint32_t offset = p->token.start;
    int sign = p->token.punct;
    if (p->token.kind != PTX_TOKEN_PUNCT ||
        !(sign == '-' || sign == '+' || sign == '!' || sign == '~'))
        return parse_primary(p);
    ptx_next(p);
    ptx_enter(p);
    struct ptx_value value = parse_unary(p);
    ptx_leave(p);
    if (sign == '!')
        return make_int(!is_true(value), false);
    if (value.kind == PTX_VALUE_FLOAT) {
        if (sign == '~')
            ptx_fail(p, offset, "'~' takes integers");
        if (sign == '-') {
            value.real = -value.real;
            value.bits ^= value.is_single ? 1ull << 31 : 1ull << 63;
        }
        return value;
    }
    if (sign == '-')
        value.bits = -value.bits;
    if (sign == '~')
        value.bits = ~value.bits;
    return value;
}

/* Binary operators by strength; 0: no operator. */
static int strength_of(const struct ptx_parser *p)
{
    if (p->token.kind != PTX_TOKEN_PUNCT)
        return 0;
    switch (p->token.punct) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case PTX_PUNCT2('<', '<'):
    case PTX_PUNCT2('>', '>'):
        return 8;
    case '<':
    case '>':
    case PTX_PUNCT2('<', '='):
    case PTX_PUNCT2('>', '='):
        return 7;
    case PTX_PUNCT2('=', '='):
    case PTX_PUNCT2('!', '='):
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case PTX_PUNCT2('&', '&'):
        return 2;
    case PTX_PUNCT2('|', '|'):
        return 1;
    }
    return 0;
}

static struct ptx_value apply_real(struct ptx_parser *p, int sign, double a, double b,
                                   uint32_t offset)
{
    struct ptx_value value = {.kind = PTX_VALUE_FLOAT};
    switch (sign) {
    case '+':
        value.real = a + b;
        break;
    case '-':
        value.real = a - b;
        break;
    case '*':
        value.real = a * b;
        break;
    case '/':
        value.real = a / b;
        break;
    case '<':
        return make_int(a < b, false);
    case '>':
        return make_int(a > b, false);
    case PTX_PUNCT2('<', '='):
        return make_int(a <= b, false);
    case PTX_PUNCT2('>', '='):
        return make_int(a >= b, false);
    case PTX_PUNCT2('=', '='):
        return make_int(a == b, false);
    case PTX_PUNCT2('!', '='):
        return make_int(a != b, false);
    case PTX_PUNCT2('&', '&'):
        return make_int(a != 0 && b != 0, false);
    case PTX_PUNCT2('|', '|'):
        return make_int(a != 0 || b != 0, false);
    default:
        ptx_fail(p, offset, "this operator takes integers");
    }
    return value;
}

static uint64_t divide(struct ptx_parser *p, int sign, uint64_t a, uint64_t b, bool is_unsigned,
                       uint32_t offset)
{
    if (b == 0)
        ptx_fail(p, offset, "division by zero");
    if (is_unsigned)
        return sign == '/' ? a / b : a % b;
    if ((int64_t)b == -1) /* INT64_MIN / -1 would trap */
        return sign == '/' ? -a : 0;
    return (uint64_t)(sign == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned)
{
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static struct ptx_value apply_int(struct ptx_parser *p, int sign, struct ptx_value left,
                                  struct ptx_value right, uint32_t offset)
{
    uint64_t a = left.bits, b = right.bits;
    bool is_unsigned = left.kind == PTX_VALUE_UNSIGNED || right.kind == PTX_VALUE_UNSIGNED;
    switch (sign) {
    case '*':
        return make_int(a * b, is_unsigned);
    case '/':
    case '%':
        return make_int(divide(p, sign, a, b, is_unsigned, offset), is_unsigned);
    case '+':
        return make_int(a + b, is_unsigned);
    case '-':
        return make_int(a - b, is_unsigned);
    case PTX_PUNCT2('<', '<'):
        return make_int(b < 64 ? a << b : 0, left.kind == PTX_VALUE_UNSIGNED);
    case PTX_PUNCT2('>', '>'):
        if (left.kind == PTX_VALUE_UNSIGNED)
            return make_int(b < 64 ? a >> b : 0, true);
        return make_int((uint64_t)((int64_t)a >> (b < 64 ? b : 63)), false);
    case '<':
        return make_int(is_less(a, b, is_unsigned), false);
    case '>':
        return make_int(is_less(b, a, is_unsigned), false);
    case PTX_PUNCT2('<', '='):
        return make_int(!is_less(b, a, is_unsigned), false);
    case PTX_PUNCT2('>', '='):
        return make_int(!is_less(a, b, is_unsigned), false);
    case PTX_PUNCT2('=', '='):
        return make_int(a == b, false);
    case PTX_PUNCT2('!', '='):
        return make_int(a != b, false);
    case '&':
        return make_int(a & b, true);
    case '^':
        return make_int(a ^ b, true);
    case '|':
        return make_int(a | b, true);
    case PTX_PUNCT2('&', '&'):
        return make_int(a && b, false);
    default:
        return make_int(a || b, false);
    }
}

static struct ptx_value parse_binary(struct ptx_parser *p, int weakest)
{
    struct ptx_value left = parse_unary(p);
    for (int strength; (strength = strength_of(p)) >= weakest && strength;) {
        uint32_t offset = p->token.start;
        int sign = p->token.punct;
        ptx_next(p);
        struct ptx_value right = parse_binary(p, strength + 1);
        if (left.kind == PTX_VALUE_FLOAT || right.kind == PTX_VALUE_FLOAT)
            left = apply_real(p, sign, to_real(left), to_real(right), offset);
        else
            left = apply_int(p, sign, left, right, offset);
    }
    return left;
}

static struct ptx_value parse_ternary(struct ptx_parser *p)
{
    ptx_enter(p);
    struct ptx_value value = parse_binary(p, 1);
    if (ptx_accept(p, '?')) {
        struct ptx_value yes = parse_ternary(p);
        ptx_expect(p, ':');
        struct ptx_value no = parse_ternary(p);
        value = is_true(value) ? yes : no;
    }
    ptx_leave(p);
    return value;
}

struct ptx_value ptx_parse_constant(struct ptx_parser *p)
{
    return parse_ternary(p);
}

uint64_t ptx_parse_integer(struct ptx_parser *p, const char *what)
{
    uint32_t offset = p->token.start;
    struct ptx_value value = parse_ternary(p);
    if (value.kind == PTX_VALUE_FLOAT)
        ptx_fail(p, offset, "%s must be an integer", what);
    return value.bits;
}

/* Rounds to a smaller format with the given number of exponent and fraction bits, to nearest even.
 */
static uint64_t round_real(double real, unsigned exponent_bits, unsigned fraction_bits)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    uint64_t sign = bits >> 63 << (exponent_bits + fraction_bits);
    uint64_t infinity = ((1ull << exponent_bits) - 1) << fraction_bits;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((1ull << 52) - 1);
    if (exponent == 0x7ff)
        return sign | infinity | (fraction ? infinity >> 1 & ~infinity : 0) |
               (fraction ? 1ull << (fraction_bits - 1) : 0);
    int bias = (1 << (exponent_bits - 1)) - 1;
    int target = exponent - 1023 + bias;
    unsigned shift = 52 - fraction_bits;
    if (exponent)
        fraction |= 1ull << 52;
    if (target <= 0) {
        if (1 - target > 60)
            return sign;
        shift += (unsigned)(1 - target);
        target = 0;
    }
    if (shift > 60)
        return sign;
    uint64_t kept = fraction >> shift, rest = fraction & ((1ull << shift) - 1);
    uint64_t half = 1ull << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The hidden bit, still in kept, adds one to the exponent field; so does a carry out of it. */
    uint64_t result = kept + ((uint64_t)(target ? target - 1 : 0) << fraction_bits);
    return sign | (result > infinity ? infinity : result);
}

static uint64_t real_bits(struct ptx_value value, enum ptx_type type)
{
    uint64_t bits = 0;
    float single = (float)value.real;
    switch (type) {
    case PTX_F16:
        return round_real(value.real, 5, 10);
    case PTX_BF16:
        return round_real(value.real, 8, 7);
    case PTX_F64:
        memcpy(&bits, &value.real, sizeof(value.real));
        return bits;
    default:
        if (value.is_single) /* keeps the payload of a NaN */
            return (uint32_t)value.bits;
        memcpy(&bits, &single, sizeof(single));
        return bits;
    }
}

bool ptx_constant_bits(struct ptx_value value, enum ptx_type type, uint64_t *bits)
{
    unsigned width = ptx_type_bits(type);
    if (value.kind == PTX_VALUE_FLOAT) {
        if (type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64 ||
            type == PTX_TF32) {
            *bits = real_bits(value, type);
            return true;
        }
        *bits = value.bits;
        return value.is_hex_float && ptx_type_kind(type) == PTX_KIND_BITS &&
               width == (value.is_single ? 32 : 64);
    }
    /* Like ptxas, constants that are too wide lose their upper bits. */
    *bits = width < 64 ? value.bits & ((1ull << width) - 1) : value.bits;
    if (type == PTX_PRED)
        *bits = value.bits != 0;
    return ptx_type_kind(type) != PTX_KIND_FLOAT && ptx_type_kind(type) != PTX_KIND_OPAQUE &&
           type != PTX_U16X2 && type != PTX_S16X2;
}
