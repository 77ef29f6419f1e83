/*
 * tensors.h: tables of tensors for kernels that take many in one launch; kernels/include/tensors.h
 * has the same rows.
 */
#ifndef LOCKSTEP_ZOO_TENSORS_H
#define LOCKSTEP_ZOO_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

enum { ZOO_UNIT = 2048 }; /* elements that are a block's work */

struct zoo_tensor {
    int64_t param, grad, mean, square, master; /* bytes from the base of each array */
    int64_t count, first;                      /* of elements; of units before this tensor */
    int64_t unused;
};
enum { ZOO_TENSOR_WORDS = sizeof(struct zoo_tensor) / sizeof(int64_t) };

static inline int64_t zoo_units(int64_t count)
{
    return (count + ZOO_UNIT - 1) / ZOO_UNIT;
}

/* For problems: where tensor t of `tensors` begins in an array of n elements, t up to `tensors`.
 * Each is larger than the one before. aligned: at multiples of 64 elements. */
static inline int64_t zoo_tensor_begin(int64_t n, int64_t tensors, int64_t t, bool aligned)
{
    double share = (double)t / (double)tensors;
    int64_t at = t == tensors ? n : (int64_t)((double)n * share * share);
    return aligned && t < tensors ? at / 64 * 64 : at;
}

/* The table of such tensors, for arrays of `narrow` bytes an element (param, grad), the others f32;
 * returns how many units they are. table may be NULL. */
static inline int64_t zoo_tensor_table(int64_t n, int64_t tensors, bool aligned, int64_t narrow,
                                       struct zoo_tensor *table)
{
    int64_t units = 0;
    for (int64_t t = 0; t < tensors; t++) {
        int64_t at = zoo_tensor_begin(n, tensors, t, aligned);
        int64_t count = zoo_tensor_begin(n, tensors, t + 1, aligned) - at;
        if (table)
            table[t] = (struct zoo_tensor){at * narrow, at * narrow, at * 4, at * 4,
                                           at * 4,      count,       units,  0};
        units += zoo_units(count);
    }
    return units;
}

#endif
