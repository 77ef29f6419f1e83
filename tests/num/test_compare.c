/*
 * test_compare.c: setp and set for every type and operator, the combining predicate and the second
 * destination; selp and slct.
 */
#include "num/harness.h"

#include "simt/num.h"

struct type_case {
    enum ptx_type type;
    unsigned bits;
    char kind; /* u s b f */
    const struct num_format *format;
};
static const struct type_case types[] = {
    {PTX_B16, 16, 'b', NULL},
    {PTX_B32, 32, 'b', NULL},
    {PTX_B64, 64, 'b', NULL},
    {PTX_U16, 16, 'u', NULL},
    {PTX_U32, 32, 'u', NULL},
    {PTX_U64, 64, 'u', NULL},
    {PTX_S16, 16, 's', NULL},
    {PTX_S32, 32, 's', NULL},
    {PTX_S64, 64, 's', NULL},
    {PTX_F32, 32, 'f', &num_f32_format},
    {PTX_F64, 64, 'f', &num_f64_format},
    {PTX_F16, 16, 'f', &num_f16_format},
    {PTX_BF16, 16, 'f', &num_bf16_format},
    {PTX_F16X2, 32, 'f', &num_f16_format},
    {PTX_BF16X2, 32, 'f', &num_bf16_format},
};
static const struct {
    enum ptx_mod mod;
    const char *name;
} operators[] = {
    {PTX_MOD_EQ, "=="},   {PTX_MOD_NE, "!="},   {PTX_MOD_LT, "<"},    {PTX_MOD_LE, "<="},
    {PTX_MOD_GT, ">"},    {PTX_MOD_GE, ">="},   {PTX_MOD_LO, "u<"},   {PTX_MOD_LS, "u<="},
    {PTX_MOD_HI, "u>"},   {PTX_MOD_HS, "u>="},  {PTX_MOD_EQU, "?=="}, {PTX_MOD_NEU, "?!="},
    {PTX_MOD_LTU, "?<"},  {PTX_MOD_LEU, "?<="}, {PTX_MOD_GTU, "?>"},  {PTX_MOD_GEU, "?>="},
    {PTX_MOD_NUM, "num"}, {PTX_MOD_NAN, "nan"},
};

static bool holds(const char *op, int order) /* -1 0 1 */
{
    switch (op[0]) {
    case '=':
        return order == 0;
    case '!':
        return order != 0;
    case '<':
        return op[1] ? order <= 0 : order < 0;
    default:
        return op[1] ? order >= 0 : order > 0;
    }
}
static bool is_legal(const struct type_case *t, const char *op)
{
    if (op[0] == '?' || op[0] == 'n')
        return t->kind == 'f';
    if (op[0] == 'u')
        return t->kind == 'u';
    return t->kind != 'b' || op[0] == '=' || op[0] == '!';
}
static uint64_t flush(const struct num_format *format, uint64_t bits, bool ftz)
{
    uint64_t sign = bits & num_sign_bit(format);
    return ftz && (bits ^ sign) >> format->mantissa_bits == 0 ? sign : bits;
}
static bool reference(const struct type_case *t, const char *op, uint64_t x, uint64_t y, bool ftz)
{
    if (t->kind == 'f') {
        double dx = num_to_f64(t->format, flush(t->format, x, ftz));
        double dy = num_to_f64(t->format, flush(t->format, y, ftz));
        bool unordered = isnan(dx) || isnan(dy);
        if (op[0] == 'n')
            return (op[1] == 'a') == unordered;
        if (unordered)
            return op[0] == '?';
        return holds(op[0] == '?' ? op + 1 : op, (dx > dy) - (dx < dy));
    }
    if (t->kind == 's') {
        int64_t sx = (int64_t)(x << (64 - t->bits)), sy = (int64_t)(y << (64 - t->bits));
        return holds(op, (sx > sy) - (sx < sy));
    }
    return holds(op[0] == 'u' ? op + 1 : op, (x > y) - (x < y));
}

static void fill_case(const struct type_case *t, uint64_t *x, uint64_t *y)
{
    bool is_pair = t->type == PTX_F16X2 || t->type == PTX_BF16X2;
    for (int i = 0; i < 32; i++) {
        if (t->format) {
            x[i] = random_float(t->format), y[i] = random_float(t->format);
            if (is_pair)
                x[i] |= random_float(t->format) << 16, y[i] |= random_float(t->format) << 16;
        } else {
            uint64_t mask = UINT64_MAX >> (64 - t->bits);
            x[i] = random_bits() & mask, y[i] = random_bits() & mask;
        }
        if (random_bits() % 4 == 0)
            y[i] = x[i];
        if (random_bits() % 8 == 0)
            y[i] = x[i] ^ (uint64_t)1 << (t->bits - 1);
    }
}
static bool combined(enum ptx_mod bool_op, bool value, bool c)
{
    return bool_op == PTX_MOD_AND ? value && c : bool_op == PTX_MOD_OR ? value || c : value != c;
}
static enum ptx_op setp_op(const struct type_case *t, bool has_bool)
{
    if (t->type == PTX_F16X2 || t->type == PTX_BF16X2)
        return has_bool ? PTX_OP_SETP_PAIR_BOOL : PTX_OP_SETP_PAIR;
    if (t->kind == 'f')
        return has_bool ? PTX_OP_SETP_FLOAT_BOOL : PTX_OP_SETP_FLOAT;
    return has_bool ? PTX_OP_SETP_INT_BOOL : PTX_OP_SETP_INT;
}

static void check_setp(const struct type_case *t, int op, enum ptx_mod bool_op, bool ftz)
{
    bool is_pair = t->type == PTX_F16X2 || t->type == PTX_BF16X2;
    const char *name = operators[op].name;
    struct bench bench =
        make(GROUP_COMPARE, setp_op(t, bool_op != 0), 1, t->bits, operators[op].mod, 0, t->type, 0);
    bench.operands.c_bits = 1;
    if (bool_op)
        add_mod(&bench, bool_op);
    if (ftz)
        add_mod(&bench, PTX_MOD_FTZ);
    if (!is_legal(t, name) ||
        (ftz && t->format != &num_f32_format && t->format != &num_f16_format)) {
        assert_false(run(&bench));
        return;
    }
    for (int k = 0; k < 60; k++) {
        fill_case(t, bench.a, bench.b);
        bench.c[0] = random_bits() & 0xffffffff;
        assert_true(run(&bench));
        for (int i = 0; i < 32; i++) {
            bool c = bench.c[0] >> i & 1, second;
            uint64_t low_mask = is_pair ? 0xffff : UINT64_MAX;
            bool first = reference(t, name, bench.a[i] & low_mask, bench.b[i] & low_mask, ftz);
            second = is_pair ? reference(t, name, bench.a[i] >> 16, bench.b[i] >> 16, ftz) : !first;
            if (bool_op)
                first = combined(bool_op, first, c), second = combined(bool_op, second, c);
            if ((bench.d[0] >> i & 1) != first || (bench.d2[0] >> i & 1) != second)
                fail_msg("type %d, %s: %llx %llx gives %d %d", t->type, name,
                         (unsigned long long)bench.a[i], (unsigned long long)bench.b[i],
                         (int)(bench.d[0] >> i & 1), (int)(bench.d2[0] >> i & 1));
        }
    }
}
static void test_setp(void **state)
{
    (void)state;
    static const enum ptx_mod bools[] = {0, PTX_MOD_AND, PTX_MOD_OR, PTX_MOD_XOR};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        for (int op = 0; op < 18; op++)
            for (int b = 0; b < 4; b++)
                for (int ftz = 0; ftz < 2; ftz++)
                    check_setp(&types[t], op, bools[b], ftz);
}

/* What set writes for true. */
static uint64_t yes(enum ptx_type type)
{
    static const struct {
        enum ptx_type type;
        uint64_t value;
    } rows[] = {{PTX_F32, 0x3f800000},   {PTX_F16, 0x3c00},        {PTX_BF16, 0x3f80},
                {PTX_F16X2, 0x3c003c00}, {PTX_BF16X2, 0x3f803f80}, {PTX_U16, 0xffff},
                {PTX_S16, 0xffff}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].type == type)
            return rows[i].value;
    return 0xffffffff;
}
static void check_set(enum ptx_type to, const struct type_case *t, int op, bool has_bool)
{
    bool is_pair = t->type == PTX_F16X2 || t->type == PTX_BF16X2;
    enum ptx_op set = is_pair          ? PTX_OP_SET_PAIR
                      : t->kind == 'f' ? PTX_OP_SET_FLOAT
                                       : PTX_OP_SET_INT;
    enum ptx_op set_bool = is_pair          ? PTX_OP_SET_PAIR_BOOL
                           : t->kind == 'f' ? PTX_OP_SET_FLOAT_BOOL
                                            : PTX_OP_SET_INT_BOOL;
    const char *name = operators[op].name;
    struct bench bench = make(GROUP_COMPARE, has_bool ? set_bool : set, ptx_type_bits(to), t->bits,
                              operators[op].mod, 0, to, t->type, 0);
    bench.operands.c_bits = 1;
    if (has_bool)
        add_mod(&bench, PTX_MOD_XOR);
    if (!is_legal(t, name))
        return;
    for (int k = 0; k < 20; k++) {
        fill_case(t, bench.a, bench.b);
        bench.c[0] = random_bits() & 0xffffffff;
        assert_true(run(&bench));
        for (int i = 0; i < 32; i++) {
            bool c = has_bool && bench.c[0] >> i & 1;
            uint64_t mask = is_pair ? 0xffff : UINT64_MAX, expected = 0;
            if (reference(t, name, bench.a[i] & mask, bench.b[i] & mask, false) != c)
                expected = yes(to) & mask;
            if (is_pair && reference(t, name, bench.a[i] >> 16, bench.b[i] >> 16, false) != c)
                expected |= yes(to) & 0xffff0000;
            ASSERT_LANE(&bench, i, expected);
        }
    }
}
static void test_set(void **state)
{
    (void)state;
    static const enum ptx_type to[] = {PTX_U32, PTX_S32, PTX_F32, PTX_U16,
                                       PTX_S16, PTX_F16, PTX_BF16};
    static const enum ptx_type to_pair[] = {PTX_F16X2, PTX_BF16X2, PTX_U16X2, PTX_U32};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        for (int op = 0; op < 18; op++)
            for (int b = 0; b < 2; b++) {
                bool is_pair = types[t].type == PTX_F16X2 || types[t].type == PTX_BF16X2;
                for (int k = 0; k < 7 && !is_pair; k++)
                    check_set(to[k], &types[t], op, b);
                for (int k = 0; k < 4 && is_pair; k++)
                    check_set(to_pair[k], &types[t], op, b);
            }
}

static void test_select(void **state)
{
    (void)state;
    static const enum ptx_type of[] = {PTX_B16, PTX_S32, PTX_F64};
    for (int t = 0; t < 3; t++) {
        unsigned bits = ptx_type_bits(of[t]);
        struct bench selp = make(GROUP_COMPARE, PTX_OP_SELP, bits, bits, 0, of[t], 0);
        struct bench slct = make(GROUP_COMPARE, PTX_OP_SLCT, bits, bits, 0, of[t], PTX_S32, 0);
        struct bench flct = make(GROUP_COMPARE, PTX_OP_SLCT_F32, bits, bits, 0, of[t], PTX_F32, 0);
        struct bench fltz = flct;
        add_mod(&fltz, PTX_MOD_FTZ);
        selp.operands.c_bits = 1;
        slct.operands.c_bits = flct.operands.c_bits = fltz.operands.c_bits = 32;
        for (int k = 0; k < 200; k++) {
            for (int i = 0; i < 32; i++) {
                uint64_t mask = UINT64_MAX >> (64 - bits);
                selp.a[i] = slct.a[i] = flct.a[i] = fltz.a[i] = random_bits() & mask;
                selp.b[i] = slct.b[i] = flct.b[i] = fltz.b[i] = random_bits() & mask;
                slct.c[i] = random_bits() & 0xffffffff;
                flct.c[i] = fltz.c[i] = random_float(&num_f32_format);
            }
            selp.c[0] = random_bits() & 0xffffffff;
            assert_true(run(&selp) && run(&slct) && run(&flct) && run(&fltz));
            for (int i = 0; i < 32; i++) {
                float c = num_f32_from((uint32_t)flct.c[i]);
                ASSERT_LANE(&selp, i, selp.c[0] >> i & 1 ? selp.a[i] : selp.b[i]);
                ASSERT_LANE(&slct, i, (int32_t)slct.c[i] >= 0 ? slct.a[i] : slct.b[i]);
                ASSERT_LANE(&flct, i, c >= 0 ? flct.a[i] : flct.b[i]);
                ASSERT_LANE(&fltz, i, num_f32_flush(c) >= 0 ? fltz.a[i] : fltz.b[i]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setp),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
