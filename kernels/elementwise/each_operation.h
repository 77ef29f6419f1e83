/*
 * each_operation.h: includes EACH, a kernel's file, once for every operation. The file then finds
 *   NAME           the kernel's name: add, scale, relu, saxpy
 *   TWO            1 if y is read as well as x
 *   APPLY(x, y, s) one element; s is the scalar
 * All kernels have the same arguments, so that the host launches them alike; saxpy's out is its y.
 * No include guard: that is how it works.
 */
#define NAME           add
#define TWO            1
#define APPLY(x, y, s) ((x) + (y))
#include EACH
#undef NAME
#undef TWO
#undef APPLY

#define NAME           scale
#define TWO            0
#define APPLY(x, y, s) ((s) * (x))
#include EACH
#undef NAME
#undef TWO
#undef APPLY

#define NAME           relu
#define TWO            0
#define APPLY(x, y, s) ((x) < 0 ? 0 : (x)) /* NaN is not below zero, and stays */
#include EACH
#undef NAME
#undef TWO
#undef APPLY

#define NAME           saxpy
#define TWO            1
#define APPLY(x, y, s) fma_f32(s, x, y)
#include EACH
#undef NAME
#undef TWO
#undef APPLY
