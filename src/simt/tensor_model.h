/*
 * tensor_model.h: how each GPU's tensor cores add up a row of products.
 * PTX leaves this open; published measurements do not (MMA-Sim, arXiv 2511.10909; FTTN; Fasi et
 * al. 2021). One output element takes `chunk` products at a time, k ascending:
 *   1. every product a*b is exact, with the exponent ea + eb of its factors (a subnormal has its
 *      type's lowest exponent and is not normalised); c has its own; zeros have -126;
 *   2. all terms are cut (toward zero) to `fraction` bits below the largest exponent and added
 *      exactly;
 *   3. the sum becomes f32 by truncation to `result` bits (overflow gives infinity), or f16 by
 *      rounding to nearest even, and is c of the next chunk.
 * `c_last`: f8 on a GPU whose mma.sync has no f8. The compiler makes f16 steps of it, as an H200
 * shows (tests/ptx/mma_random.ptx): the first takes the low two f8 of every 32-bit register (k % 4
 * is 0 or 1), the second the high two. They start from 0, and c is added at the end by an
 * ordinary addition, rounded to nearest.
 * NaN, inf * 0 and inf - inf give 0x7fffffff (f16: 0x7fff). f64 is a chain of IEEE fma, integers
 * are exact; they need no row here.
 */
#ifndef LOCKSTEP_SIMT_TENSOR_MODEL_H
#define LOCKSTEP_SIMT_TENSOR_MODEL_H

#include "ptx/ptx.h"

struct tensor_model {
    uint8_t chunk;    /* products added at once; fewer if the instruction has fewer */
    uint8_t fraction; /* bits kept below the largest exponent */
    uint8_t result;   /* fraction bits of an f32 result: 23, or 13 in Ada's f8 */
    bool via_f16;     /* f8 factors are turned into f16 first: the GPU has no f8 mma.sync */
    bool c_last;      /* f8, see above */
};

enum tensor_factor { TENSOR_HALF, TENSOR_TF32, TENSOR_F8, TENSOR_FACTOR_COUNT };

struct tensor_generation {
    unsigned since; /* 10 * major + minor of the first GPU that this row is for */
    struct tensor_model models[TENSOR_FACTOR_COUNT]; /* f16 and bf16; tf32; f8 */
};

/* In ascending order. What a GPU does not have (tf32 before 80, f8 before 89) is filled in so
 * that PTX for a newer GPU still gives a sensible result. */
static const struct tensor_generation tensor_generations[] = {
    /* Volta */
    {70, {{4, 23, 23, false, false}, {4, 23, 23, false, false}, {4, 23, 23, true, false}}},
    /* Turing, Ampere */
    {75, {{8, 24, 23, false, false}, {4, 24, 23, false, false}, {8, 24, 23, true, false}}},
    /* Ada */
    {89, {{8, 24, 23, false, false}, {4, 24, 23, false, false}, {16, 13, 13, false, false}}},
    /* Hopper, Blackwell */
    {90, {{16, 25, 23, false, false}, {8, 25, 23, false, false}, {16, 25, 23, true, true}}},
    /* RTX Blackwell */
    {120, {{16, 25, 23, false, false}, {8, 25, 23, false, false}, {32, 25, 23, false, false}}},
};

/* wgmma, which only Hopper has: one instruction is one sum. Measured on an H200. */
static const struct tensor_model tensor_wgmma_models[TENSOR_FACTOR_COUNT] = {
    {16, 25, 23, false, false}, {8, 25, 23, false, false}, {32, 13, 13, false, false}};

static inline enum tensor_factor tensor_factor_of(enum ptx_type a_type)
{
    return a_type == PTX_TF32                         ? TENSOR_TF32
           : a_type == PTX_E4M3 || a_type == PTX_E5M2 ? TENSOR_F8
                                                      : TENSOR_HALF;
}

static inline const struct tensor_model *tensor_model_for(unsigned cc_major, unsigned cc_minor,
                                                          enum ptx_type a_type)
{
    enum tensor_factor factor = tensor_factor_of(a_type);
    unsigned cc = 10 * cc_major + cc_minor;
    unsigned i = sizeof(tensor_generations) / sizeof(tensor_generations[0]) - 1;
    while (i > 0 && cc < tensor_generations[i].since)
        i--;
    return &tensor_generations[i].models[factor];
}

#endif
