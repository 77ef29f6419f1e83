/*
 * each_type.h: includes EACH, a kernel's file, once for every element type; it then finds T, T4,
 * NAME(stem) and the warp's scan. No include guard: that is how it works.
 */
#define T       f32
#define T_NAME  f32
#define BITS(x) f32_bits(x)
#define FROM_BITS(x) f32_from_bits(x)
#include "scan_warp.h"
#include EACH
#include "scan_end.h"

#define T       i32
#define T_NAME  i32
#define BITS(x) ((u32)(x))
#define FROM_BITS(x) ((i32)(x))
#include "scan_warp.h"
#include EACH
#include "scan_end.h"
