/*
 * each_size.h: includes EACH, a kernel's file, once for each size of the matrices. The file then
 * finds SIZE and NAME(stem). No include guard: that is how it works.
 */
#define SIZE 16
#define NAME(stem) stem##_16
#include EACH
#undef SIZE
#undef NAME

#define SIZE 32
#define NAME(stem) stem##_32
#include EACH
#undef SIZE
#undef NAME
