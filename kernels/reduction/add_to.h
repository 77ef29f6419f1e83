/*
 * add_to.h: an atomic sum into memory for each type of value.
 */
#ifndef LOCKSTEP_REDUCTION_ADD_TO_H
#define LOCKSTEP_REDUCTION_ADD_TO_H

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

#endif
