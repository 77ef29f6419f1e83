/*
 * each_operation.h: includes EACH, a kernel's file, once for every operation and element type. The
 * file then finds T (element), A (accumulator), OUT (result) and NAME(stem), and the functions of
 * accumulate.h. No include guard: that is how it works.
 */
#define SUM    0
#define MIN    1
#define MAX    2
#define ARGMAX 3

#define OP      SUM
#define OP_NAME sum
#include "each_type.h"
#undef OP
#undef OP_NAME

#ifndef SUM_ONLY
#define OP      MIN
#define OP_NAME min
#include "each_type.h"
#undef OP
#undef OP_NAME

#define OP      MAX
#define OP_NAME max
#include "each_type.h"
#undef OP
#undef OP_NAME

#define OP      ARGMAX
#define OP_NAME argmax
#include "each_type.h"
#undef OP
#undef OP_NAME
#endif
