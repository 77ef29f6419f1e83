/*
 * main.c: make quality: attention's error for K and V in every pair of formats, on a model's own
 * queries, keys and values and on inputs made to hurt; why K needs more bits than V; and what the
 * model as a whole loses.
 *
 *   quality MODEL.gguf TEXT PICTURE.svg    tables on standard output
 */
#include "model.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 512, ADVERSARY_TOKENS = 256 };

static struct quality_scheme plain(enum quality_format format)
{
    return (struct quality_scheme){.format = format};
}

static void print_grids(struct report_grid *grid)
{
    printf("The middle one of %zu heads:\n\n", grid->count);
    report_grid(stdout, grid, false);
    printf("\nThe worst:\n\n");
    report_grid(stdout, grid, true);
}

static bool adversaries(void)
{
    for (const struct quality_adversary *a = quality_adversaries; a->name; a++) {
        struct quality_case c;
        struct report_grid grid;
        if (!quality_alloc(&c, ADVERSARY_TOKENS, 8, 2, 64) || !report_alloc(&grid, 8))
            return false;
        quality_generate(&c, a);
        bool fine = report_add(&grid, &c);
        printf("\n### %s: %s\n\n", a->name, a->what);
        if (fine)
            report_grid(stdout, &grid, false);
        report_free(&grid);
        quality_free(&c);
        if (!fine)
            return false;
    }
    return true;
}

/* Noise
 * ------------------------------------------------------------------------------------------*/

/* The middle head's error with K or V disturbed, and queries multiplied; added to *k and *v. */
static bool disturb(const struct quality_case *c, double noise, double factor, double *k, double *v)
{
    size_t rows = (size_t)c->tokens * (size_t)c->kv_heads, keys = rows * (size_t)c->dim;
    size_t all = (size_t)c->tokens * (size_t)c->heads * (size_t)c->dim;
    double *o = malloc(2 * all * sizeof *o), *right = o ? o + all : NULL;
    float *q = malloc((all + 2 * keys) * sizeof *q), *new_k = q ? q + all : NULL;
    double error[256];
    if (o && q && c->heads <= 256) {
        float *new_v = new_k + keys;
        for (size_t i = 0; i < all; i++)
            q[i] = c->q[i] * (float)factor;
        quality_disturb(c->k, new_k, rows, c->dim, noise, 11);
        quality_disturb(c->v, new_v, rows, c->dim, noise, 12);
        quality_attend(c, q, c->k, c->v, right);
        quality_attend(c, q, new_k, c->v, o);
        quality_compare(c, o, right, error);
        *k += quality_middle(error, (size_t)c->heads, NULL);
        quality_attend(c, q, c->k, new_v, o);
        quality_compare(c, o, right, error);
        *v += quality_middle(error, (size_t)c->heads, NULL);
    }
    bool fine = o && q;
    free(o);
    free(q);
    return fine;
}

/* Schemes for K alone that the formats' table does not have, and their errors. */
static const struct {
    struct quality_scheme scheme;
    const char *name;
} remedies[] = {
    {{QUALITY_INT8, QUALITY_ITS_OWN, false}, "int8, a scale for a token"},
    {{QUALITY_INT8, QUALITY_ITS_OWN, true}, "int8, rotated"},
    {{QUALITY_INT8, QUALITY_BY_CHANNEL, false}, "int8, a scale for a channel"},
    {{QUALITY_INT4, QUALITY_ITS_OWN, false}, "int4, a scale for 32 numbers"},
    {{QUALITY_INT4, QUALITY_ITS_OWN, true}, "int4, rotated"},
    {{QUALITY_INT4, QUALITY_BY_CHANNEL, false}, "int4, a scale for a channel"},
    {{QUALITY_NVFP4, QUALITY_ITS_OWN, false}, "nvfp4"},
    {{QUALITY_NVFP4, QUALITY_ITS_OWN, true}, "nvfp4, rotated"},
};
enum { REMEDIES = sizeof remedies / sizeof *remedies };

struct study {
    struct report_grid grid;
    struct report_curve noise, scores;
    double *remedy[REMEDIES]; /* errors of heads */
    size_t remedied;
    int layers_disturbed;
    bool failed;
};

static bool try_remedies(struct study *s, const struct quality_case *c)
{
    size_t keys = (size_t)c->tokens * (size_t)c->kv_heads * (size_t)c->dim;
    size_t all = (size_t)c->tokens * (size_t)c->heads * (size_t)c->dim;
    double *o = malloc(2 * all * sizeof *o);
    float *k = malloc(keys * sizeof *k);
    if (o && k) {
        quality_attend(c, c->q, c->k, c->v, o + all);
        for (int i = 0; i < REMEDIES; i++) {
            quality_round(remedies[i].scheme, c->tokens, c->kv_heads, c->dim, c->k, k);
            quality_attend(c, c->q, k, c->v, o);
            quality_compare(c, o, o + all, s->remedy[i] + s->remedied);
        }
        s->remedied += (size_t)c->heads;
    }
    bool fine = o && k;
    free(o);
    free(k);
    return fine;
}

static void study_layer(void *context, int layer, struct quality_case *c)
{
    struct study *s = context;
    s->failed |= !report_add(&s->grid, c) || !try_remedies(s, c);
    if (layer % 3 == 0) {
        for (size_t i = 0; i < s->noise.points; i++)
            s->failed |= !disturb(c, s->noise.x[i], 1, &s->noise.k[i], &s->noise.v[i]);
        for (size_t i = 0; i < s->scores.points; i++)
            s->failed |= !disturb(c, 0x1p-5, s->scores.x[i], &s->scores.k[i], &s->scores.v[i]);
        s->layers_disturbed++;
    }
    fprintf(stderr, "layer %d\n", layer);
}

static void finish_curve(struct report_curve *c, int layers)
{
    for (size_t i = 0; i < c->points; i++) {
        c->k[i] /= layers;
        c->v[i] /= layers;
    }
}

static void print_curve(const struct report_curve *c, const char *title, double unit)
{
    printf("\n| %s |", title);
    for (size_t i = 0; i < c->points; i++)
        printf(" %.3g |", c->x[i] * unit);
    printf("\n|---|");
    for (size_t i = 0; i < c->points; i++)
        printf("---:|");
    printf("\n| error with K disturbed |");
    for (size_t i = 0; i < c->points; i++)
        printf(" %.2g %% |", 100 * c->k[i]);
    printf("\n| error with V disturbed |");
    for (size_t i = 0; i < c->points; i++)
        printf(" %.2g %% |", 100 * c->v[i]);
    printf("\n");
}

static bool study_model(const struct model *m, const int *tokens, int count, const char *picture)
{
    size_t heads = (size_t)m->layers * (size_t)m->heads;
    struct study s = {.noise = {.points = 8}, .scores = {.points = 7}};
    bool fine = report_alloc(&s.grid, heads);
    for (int i = 0; i < REMEDIES; i++)
        fine &= (s.remedy[i] = calloc(heads, sizeof(double))) != NULL;
    for (int i = 0; i < 8; i++)
        s.noise.x[i] = ldexp(1, i - 9);
    for (int i = 0; i < 7; i++)
        s.scores.x[i] = ldexp(1, i - 3);
    double nats = fine ? model_run(m, tokens, count, m->layers, study_layer, &s) : -1;
    FILE *svg = fopen(picture, "w");
    fine &= !s.failed && nats >= 0 && svg != NULL;
    if (fine) {
        printf("\n## The model: %d layers, %d heads of %d, %d tokens; loss in f32 %.4f nats a "
               "token\n\n",
               m->layers, m->heads, m->dim, count, nats);
        print_grids(&s.grid);
        finish_curve(&s.noise, s.layers_disturbed);
        finish_curve(&s.scores, s.layers_disturbed);
        print_curve(&s.noise, "noise, % of a row's length", 100);
        print_curve(&s.scores, "queries multiplied by", 1);
        report_draw(svg, &s.noise, &s.scores);
        printf("\n| K alone | middle head | worst head |\n|---|---:|---:|\n");
        for (int i = 0; i < REMEDIES; i++) {
            double worst, middle = quality_middle(s.remedy[i], s.remedied, &worst);
            printf("| %s | %.2g %% | %.2g %% |\n", remedies[i].name, 100 * middle, 100 * worst);
        }
    }
    for (int i = 0; i < REMEDIES; i++)
        free(s.remedy[i]);
    report_free(&s.grid);
    if (svg)
        fclose(svg);
    return fine;
}

/* The whole model over a cache
 * -------------------------------------------------------------------*/

struct pair {
    struct quality_scheme k, v;
};

static void replace(void *context, int layer, struct quality_case *c)
{
    const struct pair *pair = context;
    (void)layer;
    quality_round(pair->k, c->tokens, c->kv_heads, c->dim, c->k, c->k);
    quality_round(pair->v, c->tokens, c->kv_heads, c->dim, c->v, c->v);
}

static bool losses(const struct model *m, const int *tokens, int count)
{
    printf("\n| nats a token, over bf16's | K in it, V in bf16 | V in it, K in bf16 "
           "|\n|---|---:|---:|\n");
    struct pair both = {plain(QUALITY_BF16), plain(QUALITY_BF16)};
    double base = model_run(m, tokens, count, m->layers, replace, &both);
    for (int f = QUALITY_FP8; f < QUALITY_FORMATS; f++) {
        struct pair of_k = {plain((enum quality_format)f), both.v};
        struct pair of_v = {both.k, plain((enum quality_format)f)};
        printf("| %s | %+.4f | %+.4f |\n", quality_format_names[f],
               model_run(m, tokens, count, m->layers, replace, &of_k) - base,
               model_run(m, tokens, count, m->layers, replace, &of_v) - base);
        fflush(stdout);
    }
    struct pair ours = {plain(QUALITY_FP8), plain(QUALITY_NVFP4)};
    struct pair swapped = {plain(QUALITY_NVFP4), plain(QUALITY_FP8)};
    printf("\nK fp8, V nvfp4: %+.4f; the other way round, in the same bytes: %+.4f (bf16: %.4f)\n",
           model_run(m, tokens, count, m->layers, replace, &ours) - base,
           model_run(m, tokens, count, m->layers, replace, &swapped) - base, base);
    return base >= 0;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, 65536) : NULL;
    if (!text || fread(text, 1, 65535, file) == 0)
        perror(path);
    if (file)
        fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: quality MODEL.gguf TEXT PICTURE.svg\n");
        return 2;
    }
    struct model m;
    int tokens[MOST_TOKENS];
    char *text = read_text(argv[2]);
    bool fine = text && model_open(&m, argv[1]);
    if (fine) {
        int count = model_tokens(&m, text, tokens, MOST_TOKENS);
        fine = count > 1 && study_model(&m, tokens, count, argv[3]) && adversaries() &&
               losses(&m, tokens, count);
        model_close(&m);
    }
    free(text);
    return fine ? 0 : 1;
}
