/*
 * test_api_activation.c: lk_activation_forward, lk_activation_backward and lk_rope with random
 * shapes and types beside formulas in double, gradients beside finite differences of them; in
 * place; wrong arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 40 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

/* Of rounding to the type, and of the arithmetic in f32. */
static const double allowed[] = {[LK_BF16] = 0x1.02p-8, [LK_F16] = 0x1.02p-11, [LK_F32] = 1e-6};

static double value_of(lk_activation function, double x)
{
    const double c = sqrt(2 / M_PI);
    if (function == LK_GELU)
        return x / 2 * (1 + erf(x / sqrt(2)));
    if (function == LK_GELU_TANH)
        return x / 2 * (1 + tanh(c * (x + 0.044715 * x * x * x)));
    return x / (1 + exp(-x));
}

static double slope_of(lk_activation function, double x)
{
    const double h = 1e-5;
    return (value_of(function, x + h) - value_of(function, x - h)) / (2 * h);
}

/* slack: what the arithmetic is off by, whatever the size of the result. */
static void must_be_near(double is, double want, double relative, double slack, const char *name,
                         int64_t i)
{
    if (!(fabs(is - want) <= relative * fabs(want) + slack))
        fail_msg("%s[%lld] is %.9g, must be %.9g", name, (long long)i, is, want);
}

/* Of a function or its slope at x, times a factor. */
static double slack(double x, double factor)
{
    return 3e-7 * (1 + fabs(x)) * fabs(factor) + 0x1p-25;
}

struct case_ {
    lk_activation_desc desc;
    struct numbers x, up, dy; /* packed, x has both; up then has no elements */
    int64_t n;
};

static struct case_ draw(void)
{
    static const lk_activation functions[] = {LK_GELU, LK_SILU, LK_GELU_TANH};
    struct case_ c = {.desc =
                          LK_ACTIVATION_DESC((lk_type)any(3), functions[any(3)], any(6), any(700))};
    c.desc.gate = c.desc.function == LK_GELU_TANH ? LK_NO_GATE : (lk_gate)any(3);
    if (any(2)) /* rows at multiples of 16 bytes */
        c.desc.cols &= ~(int64_t)15;
    enum zoo_type type = zoo_type_of(c.desc.type);
    c.n = c.desc.rows * c.desc.cols;
    c.x = make_numbers(type, c.desc.gate == LK_GATE_PACKED ? 2 * c.n : c.n, -8, 8);
    c.up = make_numbers(type, c.desc.gate == LK_GATE ? c.n : 0, -4, 4);
    c.dy = make_numbers(type, c.n, -2, 2);
    return c;
}

static void free_case(struct case_ *c)
{
    free_numbers(&c->x);
    free_numbers(&c->up);
    free_numbers(&c->dy);
}

/* Where element i is in x, and where its other number is in the array that has it. */
static int64_t place_of_x(const struct case_ *c, int64_t i)
{
    int64_t cols = c->desc.cols;
    return c->desc.gate == LK_GATE_PACKED ? i / cols * 2 * cols + i % cols : i;
}
static double up_of(const struct case_ *c, int64_t i)
{
    if (c->desc.gate == LK_NO_GATE)
        return 1;
    return c->desc.gate == LK_GATE ? number_of(&c->up, i)
                                   : number_of(&c->x, place_of_x(c, i) + c->desc.cols);
}
static const void *up_pointer(const struct case_ *c)
{
    return c->desc.gate == LK_GATE ? c->up.device : NULL;
}

static void test_forward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw();
        struct output y = make_output(c.x.type, c.n);
        must(lk_activation_forward(NULL, &c.desc, c.x.device, up_pointer(&c), y.device + AROUND));
        fetch_output(&y);
        for (int64_t i = 0; i < c.n; i++) {
            double x = number_of(&c.x, place_of_x(&c, i));
            must_be_near(output_of(&y, i), value_of(c.desc.function, x) * up_of(&c, i),
                         allowed[c.desc.type], slack(x, up_of(&c, i)), "y", i);
        }
        free_output(&y);
        free_case(&c);
    }
}

static void test_backward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw();
        bool apart = c.desc.gate == LK_GATE;
        struct output dx = make_output(c.x.type, (int64_t)c.x.count);
        struct output dup = make_output(c.x.type, apart ? c.n : 0);
        must(lk_activation_backward(NULL, &c.desc, c.x.device, up_pointer(&c), c.dy.device,
                                    dx.device + AROUND, apart ? dup.device + AROUND : NULL));
        fetch_output(&dx);
        fetch_output(&dup);
        for (int64_t i = 0; i < c.n; i++) {
            int64_t at = place_of_x(&c, i);
            double x = number_of(&c.x, at), up = up_of(&c, i), dy = number_of(&c.dy, i);
            must_be_near(output_of(&dx, at), dy * up * slope_of(c.desc.function, x),
                         allowed[c.desc.type], slack(x, dy * up), "dx", at);
            if (c.desc.gate != LK_NO_GATE)
                must_be_near(apart ? output_of(&dup, i) : output_of(&dx, at + c.desc.cols),
                             dy * value_of(c.desc.function, x), allowed[c.desc.type], slack(x, dy),
                             "dup", i);
        }
        free_output(&dup);
        free_output(&dx);
        free_case(&c);
    }
}

/* The same bits in place as elsewhere. */
static void test_in_place(void **state)
{
    for (int round = 0; round < 8; round++) {
        struct case_ c = draw();
        struct output y = make_output(c.x.type, c.n);
        must(lk_activation_forward(NULL, &c.desc, c.x.device, up_pointer(&c), y.device + AROUND));
        fetch_output(&y);
        if (c.desc.gate != LK_GATE_PACKED) {
            char *again = malloc(y.bytes + 1);
            must(lk_activation_forward(NULL, &c.desc, c.x.device, up_pointer(&c), c.x.device));
            must(lk_copy_from(again, c.x.device, y.bytes));
            assert_memory_equal(again, y.host + AROUND, y.bytes);
            free(again);
        }
        free_output(&y);
        free_case(&c);
    }
}

/* Each pair by its angle, and back by the backward pass. */
static void test_rope(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        lk_rope_desc desc = LK_ROPE_DESC((lk_type)any(3), any(20), any(7), 2 * any(70));
        desc.neighbours = (int)any(2);
        if (any(2))
            desc.dim &= ~(int64_t)15;
        enum zoo_type type = zoo_type_of(desc.type);
        int64_t pairs = desc.dim / 2, heads = desc.tokens * desc.heads;
        struct numbers x = make_numbers(type, heads * desc.dim, -3, 3);
        struct numbers cosines = make_numbers(ZOO_F32, desc.tokens * pairs, -1, 1);
        struct numbers sines = make_numbers(ZOO_F32, desc.tokens * pairs, -1, 1);
        void *before = malloc(x.count * 4 + 1);
        memcpy(before, x.host, x.count * zoo_type_bytes[type]);
        desc.backward = (int)any(2);
        must(lk_rope(NULL, &desc, x.device, cosines.device, sines.device));
        must(lk_copy_from(x.host, x.device, x.count * zoo_type_bytes[type]));
        for (int64_t i = 0; i < heads * pairs; i++) {
            int64_t head = i / pairs, p = i % pairs, angle = head / desc.heads * pairs + p;
            int64_t first = head * desc.dim + (desc.neighbours ? 2 * p : p);
            int64_t second = first + (desc.neighbours ? 1 : pairs);
            double a = zoo_get(type, before, (size_t)first);
            double b = zoo_get(type, before, (size_t)second);
            double c = number_of(&cosines, angle);
            double s = (desc.backward ? -1 : 1) * number_of(&sines, angle);
            must_be_near(number_of(&x, first), a * c - b * s, allowed[desc.type], 1e-6, "x", first);
            must_be_near(number_of(&x, second), b * c + a * s, allowed[desc.type], 1e-6, "x",
                         second);
        }
        free(before);
        free_numbers(&sines);
        free_numbers(&cosines);
        free_numbers(&x);
    }
}

static void test_wrong(void **state)
{
    lk_activation_desc desc = LK_ACTIVATION_DESC(LK_BF16, LK_SILU, 2, 8);
    lk_rope_desc rope = LK_ROPE_DESC(LK_BF16, 1, 1, 7);
    struct numbers x = make_numbers(ZOO_BF16, 16, -1, 1), y = make_numbers(ZOO_BF16, 16, -1, 1);
    char text[400];
    must_fail(lk_activation_forward(NULL, NULL, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "desc is NULL; LK_ACTIVATION_DESC makes one");
    must_fail(lk_activation_forward(NULL, &desc, x.device, x.device, y.device), LK_BAD_ARGUMENT,
              "up is given, and gate is LK_NO_GATE: pass NULL");
    must_fail(lk_activation_forward(NULL, &desc, NULL, NULL, y.device), LK_BAD_ARGUMENT,
              "x is NULL");
    must_fail(lk_activation_backward(NULL, &desc, x.device, NULL, y.device, NULL, NULL),
              LK_BAD_ARGUMENT, "dx is NULL");
    desc.gate = LK_GATE;
    must_fail(lk_activation_forward(NULL, &desc, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "up is NULL");
    must(lk_activation_explain(&desc, 1, text, sizeof text));
    assert_non_null(strstr(text, "lk_activation_backward(rows=2 cols=8 op=swiglu"));
    desc.function = LK_GELU_TANH;
    must_fail(lk_activation_forward(NULL, &desc, x.device, x.device, y.device), LK_BAD_ARGUMENT,
              "it is LK_GELU or LK_SILU with a gate");
    desc.function = LK_RELU;
    desc.gate = LK_NO_GATE;
    must_fail(lk_activation_forward(NULL, &desc, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "or LK_GELU_TANH");
    desc.type = LK_S8;
    must_fail(lk_activation_forward(NULL, &desc, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "type is 5");
    desc = (lk_activation_desc)LK_ACTIVATION_DESC(LK_F32, LK_GELU, -1, 8);
    must_fail(lk_activation_forward(NULL, &desc, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "rows is -1");
    must_fail(lk_rope(NULL, &rope, x.device, NULL, NULL), LK_BAD_ARGUMENT, "must be even");
    rope.dim = 8;
    must_fail(lk_rope(NULL, &rope, x.device, NULL, NULL), LK_BAD_ARGUMENT, "cosines is NULL");
    must(lk_rope_explain(&rope, text, sizeof text));
    assert_non_null(strstr(text, "rope/"));
    free_numbers(&y);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),  cmocka_unit_test(test_backward),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_rope),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
