/*
 * bits.h: what a case of the texture recordings is.
 * Every texel, coordinate and stored value is a hash of the case's name and an index, so that the
 * recording holds answers alone.
 */
#ifndef TESTS_TEXTURE_BITS_H
#define TESTS_TEXTURE_BITS_H

#include "cuda/driver.h"

#include <stdint.h>
#include <stdio.h>

enum { KIND_ARRAY, KIND_MIPMAP, KIND_LINEAR, KIND_PITCH };
enum { DATA_UNIT, DATA_WIDE, DATA_BITS, DATA_SPECIAL };
enum { WHERE_MIXED, WHERE_GRID, WHERE_LINE };

struct texcase {
    const char *op; /* the instruction up to its operands */
    int kind, w, h, d, levels;
    unsigned array_flags;
    int fmt, ch;
    int addr[3], filter, mip;
    unsigned flags;
    float bias, low, high;
    unsigned aniso;
    float border[4];
    int data, where, n;
    int view; /* format of a resource view; 0: none */
    unsigned view_first_level, view_last_level, view_first_layer, view_last_layer;
    int offset[3]; /* an operand of the instruction, where any is not 0 */
};

/* Runs it, and compares or records. */
void texture_case(const struct texcase *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* run.c: what runs it prints to out. Returns a CUresult: 0, or what went wrong. */
extern const struct lk_driver *driver;
extern FILE *out;
int texture_run(const char *name, const struct texcase *c);
uint64_t texture_hash(const char *text); /* FNV-1a */
/* cases.c */
void texture_cases(void);

#endif
