/*
 * types.c: element types of cuBLAS, and OpenBLAS's functions; see blas.h.
 */
#include "clients/blas/blas.h"
#include "simt/num_format.h"
#include "simt/num_half.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *openblas;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* Opened late and by itself: programs bring BLAS libraries of their own. */
static void open_openblas(void)
{
    openblas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!openblas)
        fprintf(stderr, "lockstep: cuBLAS on a simulated GPU needs OpenBLAS: apt-get install "
                        "libopenblas0-pthread\n");
}

void *blas_function(const char *name)
{
    pthread_once(&opened, open_openblas);
    void *function = openblas ? dlsym(openblas, name) : NULL;
    if (openblas && !function)
        fprintf(stderr, "lockstep: this OpenBLAS has no %s\n", name);
    return function;
}

enum blas_status blas_refuse(const char *name, const char *what)
{
    fprintf(stderr, "lockstep: %s%s%s is not supported on a simulated GPU\n", name,
            *what ? " " : "", what);
    return BLAS_NOT_SUPPORTED;
}

enum blas_status blas_status_of(CUresult result)
{
    return result == CUDA_SUCCESS                 ? BLAS_SUCCESS
           : result == CUDA_ERROR_NOT_INITIALIZED ? BLAS_NOT_INITIALIZED
                                                  : BLAS_EXECUTION_FAILED;
}

size_t blas_type_size(enum blas_type type)
{
    switch (type) {
    case TYPE_I8:
    case TYPE_E4M3:
    case TYPE_E5M2:
        return 1;
    case TYPE_F16:
    case TYPE_BF16:
        return 2;
    case TYPE_F32:
    case TYPE_I32:
        return 4;
    case TYPE_F64:
    case TYPE_C32:
        return 8;
    case TYPE_C64:
        return 16;
    }
    return 0;
}

void blas_widen(enum blas_type type, const void *in, size_t index, double *out)
{
    switch (type) {
    case TYPE_I8:
        *out = ((const int8_t *)in)[index];
        break;
    case TYPE_I32:
        *out = ((const int32_t *)in)[index];
        break;
    case TYPE_E4M3:
        *out = num_to_f64(&num_e4m3, ((const uint8_t *)in)[index]);
        break;
    case TYPE_E5M2:
        *out = num_to_f64(&num_e5m2, ((const uint8_t *)in)[index]);
        break;
    case TYPE_F16:
        *out = (double)num_f16_widen(((const uint16_t *)in)[index]);
        break;
    case TYPE_BF16:
        *out = (double)num_bf16_widen(((const uint16_t *)in)[index]);
        break;
    case TYPE_F32:
        *out = (double)((const float *)in)[index];
        break;
    case TYPE_F64:
        *out = ((const double *)in)[index];
        break;
    case TYPE_C32:
        out[0] = (double)((const float *)in)[2 * index];
        out[1] = (double)((const float *)in)[2 * index + 1];
        break;
    case TYPE_C64:
        memcpy(out, (const double *)in + 2 * index, 2 * sizeof *out);
        break;
    }
}

static int64_t clamp(double x, double low, double high)
{
    double whole = __builtin_rint(x);
    return (int64_t)(whole < low ? low : whole > high ? high : whole);
}

void blas_narrow(enum blas_type type, void *out, size_t index, const double *in)
{
    switch (type) {
    case TYPE_I8:
        ((int8_t *)out)[index] = (int8_t)clamp(*in, INT8_MIN, INT8_MAX);
        break;
    case TYPE_I32: /* wraps, as sums of 32 bits do */
        ((int32_t *)out)[index] = (int32_t)(uint32_t)(int64_t)*in;
        break;
    case TYPE_E4M3:
        ((uint8_t *)out)[index] = (uint8_t)num_from_f64_satfinite(&num_e4m3, *in, NUM_RN);
        break;
    case TYPE_E5M2:
        ((uint8_t *)out)[index] = (uint8_t)num_from_f64_satfinite(&num_e5m2, *in, NUM_RN);
        break;
    case TYPE_F16:
        ((uint16_t *)out)[index] = num_f16_narrow((float)*in);
        break;
    case TYPE_BF16:
        ((uint16_t *)out)[index] = num_bf16_narrow((float)*in);
        break;
    case TYPE_F32:
        ((float *)out)[index] = (float)*in;
        break;
    case TYPE_F64:
        ((double *)out)[index] = *in;
        break;
    case TYPE_C32:
        ((float *)out)[2 * index] = (float)in[0];
        ((float *)out)[2 * index + 1] = (float)in[1];
        break;
    case TYPE_C64:
        memcpy((double *)out + 2 * index, in, 2 * sizeof *in);
        break;
    }
}
