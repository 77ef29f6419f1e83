/*
 * global_atomics.cu: every thread adds its element to the one result in memory. The simplest that is
 * right, and the slowest: all threads wait for one address. Sums only: floats have no atomic min
 * that keeps NaN.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"

DEVICE void add_to_f32(f32 *at, f32 value)
{
    red_add_f32(at, value);
}
DEVICE void add_to_f64(f64 *at, f64 value)
{
    red_add_f64(at, value);
}
DEVICE void add_to_i32(i32 *at, i32 value)
{
    red_add_u32((u32 *)at, (u32)value);
}
#define ADD_TO3(type) add_to_##type
#define ADD_TO2(type) ADD_TO3(type)

#define SUM_ONLY
#define EACH "global_atomics.cu"
#include "each_operation.h"
#else

KERNEL NAME(start)(OUT *result)
{
    *result = IDENTITY();
}

KERNEL NAME(reduce)(const T *in, i64 n, OUT *result)
{
    i64 i = global_thread();
    if (i < n)
        ADD_TO2(VALUE)(result, LIFT(in[i], i));
}
#endif
