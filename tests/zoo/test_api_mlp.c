/*
 * test_api_mlp.c: lk_mlp_forward and lk_mlp_backward beside an MLP in double: y and pre by its
 * formula, every gradient beside finite differences of it; twice the same bits; in a graph; wrong
 * arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 12 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

/* A case ----------------------------------------------------------------------------------------*/

enum { X, W1, B1, W2, B2, INPUTS }; /* what the loss depends on, in this order */
struct case_ {
    lk_mlp_desc desc;
    bool bias;
    int64_t wide, count[INPUTS];
    struct numbers in[INPUTS], dy;
    double *value[INPUTS]; /* the same in double, where they can be moved a little */
};

static struct case_ draw(lk_type type)
{
    static const lk_activation functions[] = {LK_GELU, LK_GELU_TANH, LK_SILU};
    static const lk_gate gates[] = {LK_NO_GATE, LK_GATE_PACKED, LK_GATE_PAIRS};
    int64_t piece = any(2) ? 8 : 1; /* rows at multiples of 16 bytes, or not */
    struct case_ c = {.desc =
                          LK_MLP_DESC(type, 1 + any(9), (1 + any(3)) * piece, (1 + any(4)) * piece),
                      .bias = any(2)};
    c.desc.function = functions[any(3)];
    c.desc.gate = gates[any(3)];
    c.desc.order = any(2) ? LK_ROWS : LK_COLUMNS;
    c.wide = c.desc.gate ? 2 * c.desc.hidden : c.desc.hidden;
    int64_t count[INPUTS] = {c.desc.tokens * c.desc.dim, c.desc.dim * c.wide, c.wide,
                             c.desc.hidden * c.desc.dim, c.desc.dim};
    for (int i = 0; i < INPUTS; i++) {
        c.count[i] = count[i];
        c.in[i] = make_numbers(zoo_type_of(type), count[i], -1, 1);
        c.value[i] = malloc((size_t)count[i] * sizeof(double));
        for (int64_t k = 0; k < count[i]; k++)
            c.value[i][k] = !c.bias && (i == B1 || i == B2) ? 0 : number_of(&c.in[i], k);
    }
    c.dy = make_numbers(zoo_type_of(type), c.desc.tokens * c.desc.dim, -1, 1);
    return c;
}

static void free_case(struct case_ *c)
{
    for (int i = 0; i < INPUTS; i++) {
        free_numbers(&c->in[i]);
        free(c->value[i]);
    }
    free_numbers(&c->dy);
}

/* In double -------------------------------------------------------------------------------------*/

static double function_of(lk_activation function, double x)
{
    if (function == LK_GELU)
        return x / 2 * (1 + erf(x / sqrt(2)));
    if (function == LK_SILU)
        return x / (1 + exp(-x));
    return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double weight(const struct case_ *c, int which, int64_t in, int64_t out)
{
    int64_t ins = which == W1 ? c->desc.dim : c->desc.hidden;
    int64_t outs = which == W1 ? c->wide : c->desc.dim;
    return c->value[which][c->desc.order == LK_ROWS ? in * outs + out : out * ins + in];
}

static double pre_of(const struct case_ *c, int64_t token, int64_t column)
{
    double sum = c->value[B1][column];
    for (int64_t k = 0; k < c->desc.dim; k++)
        sum += c->value[X][token * c->desc.dim + k] * weight(c, W1, k, column);
    return sum;
}

/* y of one token. */
static void forward(const struct case_ *c, int64_t token, double *y)
{
    for (int64_t k = 0; k < c->desc.dim; k++)
        y[k] = c->value[B2][k];
    for (int64_t unit = 0; unit < c->desc.hidden; unit++) {
        bool pairs = c->desc.gate == LK_GATE_PAIRS;
        double a = function_of(c->desc.function, pre_of(c, token, pairs ? 2 * unit : unit));
        if (c->desc.gate)
            a *= pre_of(c, token, pairs ? 2 * unit + 1 : c->desc.hidden + unit);
        for (int64_t k = 0; k < c->desc.dim; k++)
            y[k] += a * weight(c, W2, unit, k);
    }
}

/* The sum of dy y: what the gradients are gradients of. */
static double loss(const struct case_ *c)
{
    double sum = 0, *y = malloc((size_t)c->desc.dim * sizeof *y);
    for (int64_t token = 0; token < c->desc.tokens; token++) {
        forward(c, token, y);
        for (int64_t k = 0; k < c->desc.dim; k++)
            sum += y[k] * number_of(&c->dy, token * c->desc.dim + k);
    }
    free(y);
    return sum;
}

/* How far off a result of this type may be that adds up numbers of `size` in all: roundings of
 * what lies between the products, and its own. */
static double allowed(lk_type type, double value, double size)
{
    static const double unit[] = {[LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 0x1p-22};
    return 1.01 * unit[type] * (fabs(value) + 4 * size) + 1e-6 * (1 + size);
}

static void near(double is, double want, double bound, const char *name, int64_t i)
{
    if (!(fabs(is - want) <= bound))
        fail_msg("%s[%lld] is %.9g, must be %.9g within %g", name, (long long)i, is, want, bound);
}

/* Tests -----------------------------------------------------------------------------------------*/

struct results {
    struct output y, pre, gradient[INPUTS];
};

static void *room(lk_status (*query)(const lk_mlp_desc *, size_t *), const lk_mlp_desc *desc,
                  size_t *bytes)
{
    must(query(desc, bytes));
    return on_device(NULL, *bytes);
}

static struct results run(const struct case_ *c)
{
    enum zoo_type type = zoo_type_of(c->desc.type);
    struct results r = {.y = make_output(type, c->count[X]),
                        .pre = make_output(type, c->desc.tokens * c->wide)};
    size_t bytes, back_bytes;
    void *workspace = room(lk_mlp_forward_workspace, &c->desc, &bytes);
    void *back = room(lk_mlp_backward_workspace, &c->desc, &back_bytes);
    for (int i = 0; i < INPUTS; i++)
        r.gradient[i] = make_output(type, c->count[i]);
    must(lk_mlp_forward(NULL, &c->desc, c->in[X].device, c->in[W1].device,
                        c->bias ? c->in[B1].device : NULL, c->in[W2].device,
                        c->bias ? c->in[B2].device : NULL, r.y.device + AROUND,
                        r.pre.device + AROUND, workspace, bytes));
    must(lk_mlp_backward(
        NULL, &c->desc, c->in[X].device, c->in[W1].device, c->in[W2].device, r.pre.device + AROUND,
        c->dy.device, r.gradient[X].device + AROUND, r.gradient[W1].device + AROUND,
        c->bias ? r.gradient[B1].device + AROUND : NULL, r.gradient[W2].device + AROUND,
        c->bias ? r.gradient[B2].device + AROUND : NULL, back, back_bytes));
    fetch_output(&r.y);
    fetch_output(&r.pre);
    for (int i = 0; i < INPUTS; i++)
        fetch_output(&r.gradient[i]);
    must(lk_free(workspace));
    must(lk_free(back));
    return r;
}

static void free_results(struct results *r)
{
    free_output(&r->y);
    free_output(&r->pre);
    for (int i = 0; i < INPUTS; i++)
        free_output(&r->gradient[i]);
}

static void compare_forward(const struct case_ *c, const struct results *r)
{
    double *y = malloc((size_t)c->desc.dim * sizeof *y), size = (double)(c->desc.dim + 2);
    for (int64_t token = 0; token < c->desc.tokens; token++) {
        forward(c, token, y);
        for (int64_t k = 0; k < c->desc.dim; k++)
            near(
                output_of(&r->y, token * c->desc.dim + k), y[k],
                allowed(c->desc.type, y[k], size * (double)c->desc.hidden * (c->desc.gate ? 3 : 1)),
                "y", k);
        for (int64_t k = 0; k < c->wide; k++)
            near(output_of(&r->pre, token * c->wide + k), pre_of(c, token, k),
                 allowed(c->desc.type, pre_of(c, token, k), 1), "pre", k);
    }
    free(y);
}

/* Some places of each gradient: a difference costs the whole forward pass. */
static void compare_gradients(const struct case_ *c, const struct results *r)
{
    static const char *const names[INPUTS] = {"dx", "dw1", "db1", "dw2", "db2"};
    const double step = 1e-5;
    for (int i = 0; i < INPUTS; i++) {
        if (!c->bias && (i == B1 || i == B2))
            continue;
        for (int times = 0; times < 10; times++) {
            int64_t at = any(c->count[i]);
            double keep = c->value[i][at];
            c->value[i][at] = keep + step;
            double above = loss(c);
            c->value[i][at] = keep - step;
            double want = (above - loss(c)) / (2 * step);
            c->value[i][at] = keep;
            double terms = (double)(c->desc.tokens * (i == X ? c->wide : 1));
            near(output_of(&r->gradient[i], at), want,
                 allowed(c->desc.type, want, terms * (double)c->desc.dim), names[i], at);
        }
    }
}

static void test_values(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct case_ c = draw((lk_type)(round % 3));
        struct results r = run(&c), again = run(&c);
        compare_forward(&c, &r);
        compare_gradients(&c, &r);
        assert_memory_equal(r.y.host, again.y.host, r.y.bytes + 2 * AROUND);
        for (int i = 0; i < INPUTS; i++)
            assert_memory_equal(r.gradient[i].host, again.gradient[i].host,
                                r.gradient[i].bytes + 2 * AROUND);
        free_results(&again);
        free_results(&r);
        free_case(&c);
    }
}

/* Captured, it runs when the graph does, and gives the same. */
static void test_graph(void **state)
{
    struct case_ c = draw(LK_BF16);
    size_t bytes;
    CUstream stream;
    CUgraph graph;
    CUgraphExec ready;
    struct output y = make_output(ZOO_BF16, c.count[X]), z = make_output(ZOO_BF16, c.count[X]);
    void *workspace = room(lk_mlp_forward_workspace, &c.desc, &bytes);
    assert_int_equal(driver()->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    must(lk_mlp_forward(stream, &c.desc, c.in[X].device, c.in[W1].device, NULL, c.in[W2].device,
                        NULL, z.device + AROUND, NULL, workspace, bytes));
    assert_int_equal(driver()->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    must(lk_mlp_forward(stream, &c.desc, c.in[X].device, c.in[W1].device, NULL, c.in[W2].device,
                        NULL, y.device + AROUND, NULL, workspace, bytes));
    assert_int_equal(driver()->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphInstantiateWithFlags(&ready, graph, 0), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphLaunch(ready, stream), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamSynchronize(stream), CUDA_SUCCESS);
    fetch_output(&y);
    fetch_output(&z);
    assert_memory_equal(y.host, z.host, y.bytes + 2 * AROUND);
    driver()->cuGraphExecDestroy(ready);
    driver()->cuGraphDestroy(graph);
    driver()->cuStreamDestroy_v2(stream);
    must(lk_free(workspace));
    free_output(&z);
    free_output(&y);
    free_case(&c);
}

static void test_wrong(void **state)
{
    lk_mlp_desc desc = LK_MLP_DESC(LK_BF16, 8, 8, 8);
    struct numbers x = make_numbers(ZOO_BF16, 64, -1, 1), y = make_numbers(ZOO_BF16, 64, -1, 1);
    char text[500];
    size_t bytes;
    void *workspace = room(lk_mlp_forward_workspace, &desc, &bytes);
    must_fail(lk_mlp_forward(NULL, NULL, x.device, x.device, NULL, x.device, NULL, y.device, NULL,
                             workspace, bytes),
              LK_BAD_ARGUMENT, "LK_MLP_DESC makes one");
    must_fail(lk_mlp_forward(NULL, &desc, x.device, x.device, x.device, x.device, NULL, y.device,
                             NULL, workspace, bytes),
              LK_BAD_ARGUMENT, "of b1 and b2 one is NULL");
    must_fail(lk_mlp_forward(NULL, &desc, x.device, NULL, NULL, x.device, NULL, y.device, NULL,
                             workspace, bytes),
              LK_BAD_ARGUMENT, "w1 is NULL");
    must_fail(lk_mlp_forward(NULL, &desc, x.device, x.device, NULL, x.device, NULL, x.device, NULL,
                             workspace, bytes),
              LK_BAD_ARGUMENT, "overlap");
    must_fail(lk_mlp_forward(NULL, &desc, x.device, x.device, NULL, x.device, NULL, y.device, NULL,
                             NULL, 0),
              LK_SMALL_WORKSPACE, "lk_mlp_forward_workspace says how many");
    must(lk_mlp_explain(&desc, 1, text, sizeof text));
    assert_non_null(strstr(text, "mlp/chained"));
    desc.gate = LK_GATE;
    must_fail(lk_mlp_forward_workspace(&desc, &bytes), LK_BAD_ARGUMENT, "LK_GATE_PAIRS");
    desc.gate = LK_NO_GATE;
    desc.function = LK_RELU;
    must_fail(lk_mlp_backward_workspace(&desc, &bytes), LK_BAD_ARGUMENT, "function is");
    must(lk_free(workspace));
    free_numbers(&y);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
