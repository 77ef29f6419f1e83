/*
 * random_float.h: random bits of a float type, of several characters. Included after fake_warp.h.
 */
#ifndef TESTS_TENSOR_RANDOM_FLOAT_H
#define TESTS_TENSOR_RANDOM_FLOAT_H

enum { RANDOM_MIXED = 7, RANDOM_KINDS = 9 };

/* Random bits of a float type. How: 0 small integers, 1 exponents near 0, 2 any bits, 3 mostly 0
 * or tiny, 4 any finite bits, 5 large, 6 just below 2, so that sums are as large as they can be,
 * 7 ordinary numbers with a few of any other character among them, so that some rows and columns of
 * a tile need the slow way and others do not, 8 the same with more of them. */
static uint32_t random_float(enum ptx_type type, int how)
{
    if (how >= RANDOM_MIXED) {
        static const int others[] = {2, 3, 4, 5};
        unsigned rare = how == RANDOM_MIXED ? 300 : 12;
        how = fake_below(rare) ? 1 : others[fake_below(4)];
    }
    static const struct {
        enum ptx_type type;
        int exponent_bits, fraction;
    } formats[] = {{PTX_F16, 5, 10}, {PTX_BF16, 8, 7}, {PTX_TF32, 8, 23},
                   {PTX_F32, 8, 23}, {PTX_E4M3, 4, 3}, {PTX_E5M2, 5, 2}};
    int e = 8, fraction = 23;
    for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].type == type)
            e = formats[i].exponent_bits, fraction = formats[i].fraction;
    }
    uint32_t bias = (1u << (e - 1)) - 1, sign = fake_below(2) << (e + fraction);
    uint32_t mantissa = fake_random() & ((1u << fraction) - 1), top = (1u << e) - 1, field;
    switch (how) {
    case 0: { /* -3 .. 3 */
        static const uint32_t fields[4] = {0, 0, 1, 1};
        unsigned n = fake_below(4);
        if (n == 0)
            return sign;
        return sign | (bias + fields[n]) << fraction | (n == 3 ? 1u << (fraction - 1) : 0);
    }
    case 1:
        field = bias + fake_below(7) - 4;
        break;
    case 3:
        if (fake_below(4))
            return sign;
        field = fake_below(3);
        break;
    case 4:
        field = fake_below(top);
        break;
    case 5:
        field = top - 1 - fake_below(2);
        mantissa |= ((1u << fraction) - 1) & (fake_below(3) ? ~0u : 0);
        break;
    case 6:
        sign = 0;
        field = bias;
        mantissa = ((1u << fraction) - 1) & (fake_below(64) ? ~0u : ~1u);
        break;
    default:
        field = fake_below(top + 1);
        mantissa = fake_below(8) ? mantissa : 0;
        break;
    }
    return sign | field << fraction | mantissa;
}

#endif
