/*
 * rope.c: the family: rotary position embedding. Each pair of numbers of a head is turned by an
 * angle that depends on the token's position and on the pair. One read and one write of x; the
 * angles are small beside it, if the heads of a token share them.
 */
#include "rope.h"

#include <math.h>
#include <stdio.h>

enum { X, COSINES, SINES };

static const char *const pairings[] = {"halves", "neighbours", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[ROPE_TYPE]];
}

/* A pair has two numbers: of an odd size the last one stays as it is. */
static int64_t pairs_of_head(const struct zoo_problem *problem)
{
    return problem->value[ROPE_DIM] / 2;
}

static size_t angles(const struct zoo_problem *problem)
{
    return (size_t)problem->value[ROPE_TOKENS] * (size_t)pairs_of_head(problem);
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t heads = (size_t)problem->value[ROPE_TOKENS] * (size_t)problem->value[ROPE_HEADS];
    buffers[X] = (struct zoo_buffer){"x", ZOO_IN_OUT, type_of(problem),
                                     heads * (size_t)pairs_of_head(problem) * 2};
    buffers[COSINES] = (struct zoo_buffer){"cosines", ZOO_IN, ZOO_F32, angles(problem)};
    buffers[SINES] = (struct zoo_buffer){"sines", ZOO_IN, ZOO_F32, angles(problem)};
    return 3;
}

/* The usual angles, of positions 0, 1, 2 ..: position / 10000^(2 pair / dim). */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    int64_t pairs = pairs_of_head(problem);
    float *cosines = buffer[COSINES], *sines = buffer[SINES];
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    zoo_fill(problem, 0, buffers[X].type, buffer[X], buffers[X].count);
    for (int64_t i = 0; i < (int64_t)angles(problem); i++) {
        int64_t position = i / pairs, pair = i % pairs;
        double angle = (double)position * pow(10000, -(double)pair / (double)pairs);
        cosines[i] = (float)cos(angle);
        sines[i] = (float)sin(angle);
    }
}

/* One number of a pair: two products and their sum in f32, then rounded to the type. */
static void expect(struct zoo_expected *expected, size_t at, enum zoo_type type, double one,
                   double other)
{
    const struct zoo_precision *of = &zoo_precisions[type];
    double value = one + other;
    expected->value[at] = fabs(value) >= of->most ? copysign(INFINITY, value) : value;
    expected->bound[at] =
        of->unit * 1.01 * fabs(value) + 0x1p-23 * (fabs(one) + fabs(other)) + of->least;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    int64_t pairs = pairs_of_head(problem), heads = problem->value[ROPE_HEADS];
    int64_t all = problem->value[ROPE_TOKENS] * heads * pairs;
    bool halves = problem->value[ROPE_PAIRS] == 0;
    double sign = problem->value[ROPE_DIRECTION] == 0 ? 1 : -1;
    const float *cosines = buffer[COSINES], *sines = buffer[SINES];
#pragma omp parallel for schedule(static) if (all > 100000)
    for (int64_t i = 0; i < all; i++) {
        int64_t head = i / pairs, p = i % pairs, angle = head / heads * pairs + p;
        size_t first = (size_t)(head * pairs * 2 + (halves ? p : 2 * p));
        size_t second = first + (size_t)(halves ? pairs : 1);
        double a = zoo_get(type, buffer[X], first), b = zoo_get(type, buffer[X], second);
        double c = (double)cosines[angle], s = sign * (double)sines[angle];
        expect(&expected[X], first, type, a * c, -b * s);
        expect(&expected[X], second, type, b * c, a * s);
    }
}

static double bytes(const struct zoo_problem *problem)
{
    double x = (double)angles(problem) * 2 * (double)problem->value[ROPE_HEADS];
    return 2 * x * zoo_type_bytes[type_of(problem)] + (double)angles(problem) * 8;
}

static double flops(const struct zoo_problem *problem)
{
    return (double)angles(problem) * (double)problem->value[ROPE_HEADS] * 6;
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch(struct zoo_call *call, int64_t blocks)
{
    const struct zoo_problem *problem = call->problem;
    int64_t tokens = problem->value[ROPE_TOKENS];
    int heads = (int)problem->value[ROPE_HEADS], dim = (int)pairs_of_head(problem) * 2;
    float sign = problem->value[ROPE_DIRECTION] == 0 ? 1 : -1;
    char kernel[32];
    if (angles(problem) == 0 || heads == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s", pairings[problem->value[ROPE_PAIRS]],
             types[problem->value[ROPE_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
        &call->buffer[X], &call->buffer[COSINES], &call->buffer[SINES], &tokens, &heads, &dim,
        &sign);
}

static int64_t all_pairs(const struct zoo_problem *problem)
{
    return (int64_t)angles(problem) * problem->value[ROPE_HEADS];
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div(all_pairs(call->problem), zoo_tunable(call, "BLOCK")));
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    int64_t per =
        (call->problem->value[ROPE_PAIRS] == 0 ? 16 : 8) / zoo_type_bytes[type_of(call->problem)];
    return launch(call, zoo_ceil_div(all_pairs(call->problem), zoo_tunable(call, "BLOCK") * per));
}

static CUresult launch_reused(struct zoo_call *call)
{
    return launch(call, call->problem->value[ROPE_TOKENS]);
}

static const struct zoo_variant variants[] = {
    {"naive", "one thread for each pair", launch_naive, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes of the pairs' first numbers and 16 of their second ones at a time",
     launch_vectorised, .traits = ZOO_DETERMINISTIC},
    {"reused", "a thread takes its angles from head to head in registers", launch_reused,
     .traits = ZOO_DETERMINISTIC},
    {0}};

/* As models write it. */
#define TORCH_HALVES                                                                               \
    "(lambda v, c, s: torch.cat((v[..., :dim // 2] * c - v[..., dim // 2:] * s, "                  \
    "v[..., dim // 2:] * c + v[..., :dim // 2] * s), -1).to(v.dtype))"
#define TORCH_ARGUMENTS                                                                            \
    "(x[0].view(tokens, heads, dim), x[1].view(tokens, 1, dim // 2), x[2].view(tokens, 1, dim // " \
    "2))"

static bool peer_takes(const struct zoo_problem *problem)
{
    return problem->value[ROPE_PAIRS] == 0 && problem->value[ROPE_DIRECTION] == 0;
}

static const struct zoo_peer peers[] = {{"torch_compile", ZOO_PEER_PYTHON,
                                         .call = "compiled(" TORCH_HALVES ")" TORCH_ARGUMENTS,
                                         .takes = peer_takes},
                                        {0}};

static const char *const edges[] = {
    "tokens=0,1,2,5 heads=1,3 dim=0,2,4,6,16,18,64 pairs=halves,neighbours direction=forward "
    "type=bf16",
    "tokens=3 heads=0,5,33 dim=64,96,128 pairs=halves,neighbours direction=backward type=bf16,f32",
    "tokens=7 heads=8 dim=1,7,80,256,1024 pairs=halves,neighbours direction=forward type=f16,f32",
    "tokens=40 heads=9 dim=128 pairs=halves,neighbours direction=forward,backward "
    "type=bf16,f16,f32",
    "tokens=4 heads=4 dim=64 pairs=halves,neighbours direction=forward type=bf16,f16,f32 "
    "dist=constant,ascending,adversarial",
    NULL};

static const char *const bench[] = {"tokens=32K heads=32 dim=128 pairs=halves,neighbours type=bf16",
                                    "tokens=32K heads=8 dim=128 pairs=halves type=bf16",
                                    "tokens=32,1K heads=32 dim=128 pairs=halves type=bf16", NULL};

const struct zoo_family zoo_rope = {
    .name = "rope",
    .title = "rotary position embedding, forward and backward",
    .problem =
        "x is [tokens][heads][dim], in place: the numbers a, b of a pair become a cos - b sin and "
        "b cos + a sin of the pair's angle for the token; backward turns the other way. The two "
        "are half a head apart, or neighbours. Of an odd dim the next lower one is taken.",
    .parameters = {{"tokens", "tokens", 0, (int64_t)1 << 28, 1024, NULL},
                   {"heads", "heads of a token", 0, 1 << 20, 32, NULL},
                   {"dim", "numbers in a head", 0, 1 << 20, 128, NULL},
                   {"pairs", "halves or neighbours", 0, 1, 0, pairings},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "tokens=512 heads=32 dim=128",
    ZOO_FAMILY_PARTS,
};
