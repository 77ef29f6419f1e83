/*
 * driver_calls.h: the driver API as functions of the library that is linked: libcuda.so.1.
 */
#ifndef LOCKSTEP_CLIENTS_DRIVER_CALLS_H
#define LOCKSTEP_CLIENTS_DRIVER_CALLS_H

#include "cuda/abi.h"

#define FN(result, name, parameters, arguments) result name parameters;
#include "cuda/api.def"

#endif
