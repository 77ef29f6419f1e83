/*
 * norm.c: the problem that rmsnorm and layernorm solve: its arrays, its floor and its data.
 */
#include "norm.h"

#include "norm_row.h"

#include <math.h>
#include <stdlib.h>

const char *const norm_types[] = {"bf16", "f16", "f32", NULL};
const char *const norm_steps[] = {"forward", "backward", NULL};
const char *const norm_residuals[] = {"none", "added", NULL};
const char *const norm_affines[] = {"yes", "no", NULL};
const char *const norm_stores[] = {"same", "e4m3", NULL};
const char *const norm_keeps[] = {"none", "kept", NULL};
const char *const norm_distributions[] = {"uniform",  "offset",  "huge", "tiny",
                                          "constant", "special", NULL};

enum zoo_type norm_type(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return types[problem->value[NORM_TYPE]];
}

/* Arrays ----------------------------------------------------------------------------------------*/

unsigned norm_list(const struct zoo_problem *problem, enum norm_array *list)
{
    const int64_t *v = problem->value;
    bool affine = v[NORM_AFFINE] == AFFINE_YES, beta = affine && norm_is_layer(problem);
    unsigned count = 0;
    list[count++] = NORM_X;
    if (!norm_is_backward(problem)) {
        if (v[NORM_RESIDUAL])
            list[count++] = NORM_RESIDUAL_IN;
        if (affine)
            list[count++] = NORM_GAMMA;
        if (beta)
            list[count++] = NORM_BETA;
        list[count++] = NORM_Y;
        if (v[NORM_RESIDUAL])
            list[count++] = NORM_SUM;
        if (v[NORM_STATS])
            list[count++] = NORM_STATS_OUT;
        return count;
    }
    if (affine)
        list[count++] = NORM_GAMMA;
    list[count++] = NORM_DY;
    if (v[NORM_RESIDUAL])
        list[count++] = NORM_DSUM;
    list[count++] = NORM_STATS_IN;
    list[count++] = NORM_DX;
    if (affine)
        list[count++] = NORM_DGAMMA;
    if (beta)
        list[count++] = NORM_DBETA;
    return count;
}

int norm_at(const struct zoo_problem *problem, enum norm_array array)
{
    enum norm_array list[NORM_ARRAYS];
    unsigned count = norm_list(problem, list);
    for (unsigned i = 0; i < count; i++)
        if (list[i] == array)
            return (int)i;
    return -1;
}

unsigned norm_shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    static const char *const names[NORM_ARRAYS] = {"x",    "residual", "gamma", "beta", "dy",
                                                   "dsum", "stats",    "y",     "sum",  "stats",
                                                   "dx",   "dgamma",   "dbeta"};
    const int64_t *v = problem->value;
    enum norm_array list[NORM_ARRAYS];
    unsigned count = norm_list(problem, list);
    size_t rows = (size_t)v[NORM_ROWS], cols = (size_t)v[NORM_COLS];
    for (unsigned i = 0; i < count; i++) {
        enum norm_array array = list[i];
        struct zoo_buffer *b = &buffers[i];
        *b = (struct zoo_buffer){names[array], array >= NORM_Y ? ZOO_OUT : ZOO_IN,
                                 norm_type(problem), rows * cols};
        if (array == NORM_Y && v[NORM_STORE] == STORE_E4M3)
            b->type = ZOO_E4M3;
        if (array == NORM_GAMMA || array == NORM_BETA || array == NORM_DGAMMA ||
            array == NORM_DBETA)
            b->count = cols;
        if (array == NORM_STATS_IN || array == NORM_STATS_OUT) {
            b->type = ZOO_F32;
            b->count = norm_is_layer(problem) ? 2 * rows : rows;
        }
    }
    return count;
}

/* Each array once. */
double norm_bytes(const struct zoo_problem *problem)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = norm_shape(problem, buffers);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)zoo_buffer_bytes(&buffers[i]);
    return sum;
}

/* A fused multiply-add as two. */
double norm_flops(const struct zoo_problem *problem)
{
    double each = norm_is_backward(problem) ? 9 : 4;
    if (norm_is_layer(problem))
        each += norm_is_backward(problem) ? 4 : 3;
    return each * (double)problem->value[NORM_ROWS] * (double)problem->value[NORM_COLS];
}

/* Data ------------------------------------------------------------------------------------------*/

static double number(const struct zoo_problem *problem, int64_t row, int64_t col)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 1e4, -1e4, 0x1p-149, -0.0};
    uint64_t at = (uint64_t)row * (uint64_t)problem->value[NORM_COLS] + (uint64_t)col;
    uint64_t dice = zoo_random(problem->seed, 1, at);
    bool half = norm_type(problem) == ZOO_F16;
    double x = 4 * zoo_random_unit(problem->seed, 0, at) - 2;
    switch (problem->distribution) {
    case DIST_OFFSET: /* a mean far from 0: what a sum of squares minus a squared mean loses */
        return x + 300;
    case DIST_HUGE: /* nearly as large as the type allows; squares overflow f32, but those of f16 */
        return x * (half ? 30000 : 0x1p126);
    case DIST_TINY:
        return x * (half ? 0x1p-20 : 0x1p-120);
    case DIST_CONSTANT:
        return (double)(row % 3) - 1;
    case DIST_SPECIAL: /* the first rows have none */
        return row > 1 && dice % 61 == 0 ? special[dice / 61 % 7] : x;
    default:
        return x;
    }
}

/* As backward gets them: from x, rounded to f32. */
static void generate_stats(const struct zoo_problem *problem, const void *x, float *stats)
{
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
    double *row = malloc(sizeof *row * (size_t)(cols + 1));
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = 0; k < cols; k++)
            row[k] = zoo_get(norm_type(problem), x, (size_t)(r * cols + k));
        struct norm_row m = norm_measure(problem, row);
        if (norm_is_layer(problem))
            stats[r] = (float)m.mean;
        stats[r + (norm_is_layer(problem) ? rows : 0)] = (float)m.rstd;
    }
    free(row);
}

void norm_generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    enum norm_array list[NORM_ARRAYS];
    unsigned count = norm_list(problem, list);
    int64_t cols = problem->value[NORM_COLS];
    norm_shape(problem, buffers);
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role != ZOO_IN || list[i] == NORM_STATS_IN)
            continue;
#pragma omp parallel for schedule(static) if (buffers[i].count > 100000)
        for (int64_t k = 0; k < (int64_t)buffers[i].count; k++) {
            double x = zoo_random_unit(problem->seed, 10 + list[i], (uint64_t)k);
            x = list[i] == NORM_GAMMA ? 0.5 + x : 2 * x - 1;
            if (list[i] == NORM_X)
                x = number(problem, k / cols, k % cols);
            zoo_put(buffers[i].type, buffer[i], (size_t)k, x);
        }
    }
    int stats = norm_at(problem, NORM_STATS_IN);
    if (stats >= 0)
        generate_stats(problem, buffer[0], buffer[stats]);
}

/* PyTorch has no residual, no FP8, and rounds a sum that is to be normalised. */
bool norm_torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[NORM_RESIDUAL] == 0 && v[NORM_AFFINE] == AFFINE_YES && v[NORM_STORE] == STORE_SAME &&
           v[NORM_STATS] == 0 && v[NORM_ROWS] > 0 && v[NORM_COLS] > 0;
}

const struct zoo_tunable norm_waves_4[] = {ZOO_AT_LAUNCH("WAVES", 4, 1, 2, 4, 8), {{0}, 0, {0}, 0}};
const struct zoo_tunable norm_waves_1[] = {ZOO_AT_LAUNCH("WAVES", 1, 1, 2, 4), {{0}, 0, {0}, 0}};
const struct zoo_tunable norm_shared_affine[] = {
    ZOO_AT_LAUNCH("WAVES", 1, 1, 2, 4), ZOO_AT_LAUNCH("IDLE", 12, 8, 12, 16), {{0}, 0, {0}, 0}};

const char *const norm_edges[] = {
    "rows=0,1,3 cols=0,1,7,8,33",
    "rows=9 cols=1,8,100,256,264,1000,1032 type=bf16,f16,f32 stats=kept",
    "rows=5 cols=1028,4104 type=f32,bf16 residual=added store=same,e4m3 stats=kept",
    "rows=3 cols=8200,33000 type=bf16,f16",
    "rows=140 cols=16376",                      /* a later row to ask for */
    "rows=2 cols=2048 type=f32 residual=added", /* 48 KiB of stages, and more */
    "rows=2 cols=66000,70001",
    "rows=70 cols=66000", /* several rows for each group of threads */
    "rows=3 cols=32768 dist=huge,special,offset residual=added store=same,e4m3 stats=kept",
    "rows=3 cols=66008 dist=huge,special,tiny stats=kept",
    "rows=2 cols=17000 type=f32 residual=none,added stats=kept",
    "rows=4 cols=65,512 affine=no type=bf16,f32",
    "rows=5 cols=40,2056 type=bf16,f16,f32 store=e4m3 scale=100",
    "rows=6 cols=72,2056,9000 dist=offset,huge,tiny,constant,special",
    "rows=6 cols=72,2056 dist=huge,tiny,special type=f16,f32 stats=kept",
    "rows=2 cols=72,16384 dist=tiny,huge eps=0 residual=added",
    "rows=700 cols=64 eps=0.5",
    "rows=0,1,3 cols=0,1,8,33 step=backward",
    "rows=9 cols=8,100,256,512,520,1032 step=backward type=bf16,f16,f32",
    "rows=40 cols=65,2056 step=backward residual=added type=bf16,f32",
    "rows=3 cols=8200,16388 step=backward type=bf16,f32",
    "rows=3 cols=66000 step=backward",            /* more than 512 threads of 8 blocks hold */
    "rows=600 cols=40 step=backward dist=offset", /* several rows for each block that stays */
    "rows=270 cols=8200 step=backward",           /* and for each cluster */
    "rows=20 cols=9000,12296 step=backward type=f32,f16",
    "rows=4 cols=65,512 step=backward affine=no",
    "rows=150 cols=34000 step=backward type=f32", /* slots of a team are used again */
    "rows=20 cols=33000,40000 step=backward type=bf16,f16",
    "rows=2 cols=66000 step=backward affine=no",
    NULL};

const char *const norm_bench[] = {"rows=32K cols=4K",
                                  "rows=8K cols=16K",
                                  "rows=1K cols=128K",
                                  "rows=32K cols=4K step=backward",
                                  "rows=8K cols=16K step=backward",
                                  "rows=1K cols=128K step=backward",
                                  "rows=32K cols=4K residual=added",
                                  "rows=32K cols=4K store=e4m3 scale=16",
                                  "rows=16K cols=4K type=f32",
                                  NULL};
