/*
 * global_atomics.cu: every thread adds its element to the one result in memory. The simplest that
 * is right, and the slowest: all threads wait for one address. Sums only: floats have no atomic
 * min that keeps NaN.
 */
// arch: sm_75
#ifndef EACH
#include "add_to.h"

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
