/*
 * quality.h: how far attention's output moves when its keys and values are stored in fewer bits.
 * Arrays are rounded to a scheme's codes and back, exactly as the kernels round them
 * (kernels/host/formats.h), and attention runs in f64 over what is left.
 */
#ifndef LOCKSTEP_QUALITY_H
#define LOCKSTEP_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For loops that take minutes: one copy of the function for processors with AVX2, one for all. */
#ifdef __x86_64__
#define QUALITY_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define QUALITY_CLONES
#endif

enum quality_format {
    QUALITY_BF16,
    QUALITY_FP8,   /* e4m3; an f32 scale for each head, as kernels/kv_cache has it */
    QUALITY_INT8,  /* an f32 scale for each token and head */
    QUALITY_INT4,  /* an f32 scale for 32 numbers of a token and head */
    QUALITY_NVFP4, /* e2m1; an e4m3 scale for 16 numbers, an f32 for each head */
    QUALITY_FORMATS
};
extern const char *const quality_format_names[];
/* Who shares a scale; ITS_OWN is what the format's line above says. */
enum quality_sharing { QUALITY_ITS_OWN, QUALITY_BY_CHANNEL };

struct quality_scheme {
    enum quality_format format;
    enum quality_sharing sharing; /* by channel: INT8 and INT4 alone */
    bool rotate;                  /* by a Hadamard matrix first, and back after it */
};

/* What attention is over: tokens attend to themselves and those before them. */
struct quality_case {
    int tokens, heads, kv_heads, dim; /* dim is a power of two, and at least 32 */
    float *q;                         /* [tokens][heads][dim] */
    float *k, *v;                     /* [tokens][kv_heads][dim] */
};

bool quality_alloc(struct quality_case *c, int tokens, int heads, int kv_heads, int dim);
void quality_free(struct quality_case *c);

/* x, [tokens][heads][dim], to codes and back. */
void quality_round(struct quality_scheme scheme, int tokens, int heads, int dim, const float *x,
                   float *y);
/* Numbers in normal distribution, with a mean of 0 and a variance of 1; they depend on the stream
 * and the place alone. */
double quality_normal(unsigned stream, uint64_t i);
/* y = x, each row of dim numbers moved by a random vector of `part` times its length. */
void quality_disturb(const float *x, float *y, size_t rows, int dim, double part, unsigned stream);

/* o, [tokens][heads][dim]. */
void quality_attend(const struct quality_case *c, const float *q, const float *k, const float *v,
                    double *o);
/* |o - right| / |right| of each head, into error[heads]. */
void quality_compare(const struct quality_case *c, const double *o, const double *right,
                     double *error);
/* The middle one of the errors, and the largest. The errors are sorted. */
double quality_middle(double *error, size_t count, double *largest);

/* Inputs that hurt: see the table in quality.c. */
struct quality_adversary {
    const char *name, *what;
    void (*spoil)(struct quality_case *c);
};
extern const struct quality_adversary quality_adversaries[];
void quality_generate(struct quality_case *c, const struct quality_adversary *adversary);

#endif
