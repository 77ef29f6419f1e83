/*
 * formats.h: numbers of 4 and 8 bits on the host, bit for bit as kernels/include/quantised.h has
 * them: codes of numbers, numbers of codes, and the scales of blocks. Plain C, for references.
 */
#ifndef LOCKSTEP_KERNELS_FORMATS_H
#define LOCKSTEP_KERNELS_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

enum number_format { FORMAT_E4M3, FORMAT_E5M2, FORMAT_INT8, FORMAT_INT4, FORMAT_E2M1 };

struct format_facts {
    unsigned bits;
    float largest;
    int mantissa, least, top; /* bits; exponents of the smallest normal and the largest number */
    bool integer;
};
extern const struct format_facts format_facts[];

/* To nearest, ties to even, or by chance: random < 2^24. Too large is the largest of its sign. */
uint8_t format_nearest(enum number_format format, float x);
uint8_t format_stochastic(enum number_format format, float x, uint32_t random);
float format_number(enum number_format format, uint8_t code);

/* Factor and scale for blocks whose largest number is given, as quantiser_to has it. */
float format_factor(float target, float largest);
float format_scale(float target, float largest);
uint8_t format_e8m0(float largest, int top);
float format_from_e8m0(uint8_t scale);
uint8_t format_nvfp4_scale(float largest, float encode);
float format_nvfp4_factor(uint8_t scale, float encode);
#define FORMAT_NVFP4_LARGEST 2688.0f

/* The random number, below 2^24, of an element. */
uint32_t format_random(uint64_t key, int64_t row, int64_t col);

#endif
