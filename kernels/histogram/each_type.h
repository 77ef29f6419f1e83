/*
 * each_type.h: includes EACH, a kernel's file, once for each element type. The file then finds T
 * and NAME(stem). No include guard: that is how it works.
 */
#define T f32
#define NAME(stem) stem##_f32
#include EACH
#undef T
#undef NAME

#define T u8
#define NAME(stem) stem##_u8
#include EACH
#undef T
#undef NAME
