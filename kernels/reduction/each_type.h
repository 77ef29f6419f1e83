/*
 * each_type.h: one operation for every element type; see each_operation.h.
 * VALUE is the type that sums and comparisons happen in.
 */
#define T         f32
#define T_NAME    f32
#define VALUE     f32
#define WIDEN(x)  (x)
#define LOWEST    f32_from_bits(0xff800000u)
#define HIGHEST   f32_from_bits(0x7f800000u)
#include "accumulate.h"
#include EACH
#include "accumulate_end.h"

#define T         f64
#define T_NAME    f64
#define VALUE     f64
#define WIDEN(x)  (x)
#define LOWEST    f64_from_bits(0xfff0000000000000ull)
#define HIGHEST   f64_from_bits(0x7ff0000000000000ull)
#include "accumulate.h"
#include EACH
#include "accumulate_end.h"

#define T         i32
#define T_NAME    i32
#define VALUE     i32
#define WIDEN(x)  (x)
#define LOWEST    ((i32)0x80000000u)
#define HIGHEST   0x7fffffff
#include "accumulate.h"
#include EACH
#include "accumulate_end.h"

#define T         bf16
#define T_NAME    bf16
#define VALUE     f32
#define WIDEN(x)  f32_from_bf16(x)
#define LOWEST    f32_from_bits(0xff800000u)
#define HIGHEST   f32_from_bits(0x7f800000u)
#include "accumulate.h"
#include EACH
#include "accumulate_end.h"
