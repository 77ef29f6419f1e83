/*
 * results.c: BLAS calls of level 1 that give a number: dot products, norms, sums, the place of the
 * largest. The result goes to the host, which waits for it, or to device memory in the stream.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* ISO C has no name for a pointer to "some function"; each kind is cast where it is called. */
struct reduction {
    char kind; /* of the result: s d float, double; c z complex; i index */
    void *function;
    int n, inc_x, inc_y;
    const void *x, *y; /* y NULL: one vector */
    void *result;
    size_t size, element;
};

static void run_reduction(void *data)
{
    struct reduction *r = data;
    union {
        float s;
        double d;
        float complex c;
        double complex z;
        int i;
    } value = {.z = 0};
    size_t one = r->element;
    const void *x = lk_library_bytes(r->x, one * (size_t)r->n), *y = NULL;
    if (r->y)
        y = lk_library_bytes(r->y, one * (size_t)r->n);
    void *result = lk_library_bytes(r->result, r->size);
    if (!result || (r->n > 0 && (!x || (r->y && !y))))
        return;
#define CALL(type)                                                                                 \
    (r->y ? ((type(*)(const int *, const void *, const int *, const void *,                        \
                      const int *))r->function)(&r->n, x, &r->inc_x, y, &r->inc_y)                 \
          : ((type(*)(const int *, const void *, const int *))r->function)(&r->n, x, &r->inc_x))
    switch (r->kind) {
    case 's':
        value.s = CALL(float);
        break;
    case 'd':
        value.d = CALL(double);
        break;
    case 'c':
        value.c = CALL(float complex);
        break;
    case 'z':
        value.z = CALL(double complex);
        break;
    default:
        value.i = r->n > 0 && r->inc_x > 0 ? CALL(int) : 0;
    }
#undef CALL
    if (r->kind == 'i' && r->size == 8)
        *(int64_t *)result = value.i;
    else
        memcpy(result, &value, r->size);
    lk_library_wrote(r->result, r->size);
}

static enum blas_status reduce(const struct blas_handle *handle, const char *name,
                               const char *fortran, struct reduction reduction, int64_t n,
                               int64_t inc_x, int64_t inc_y, size_t element)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!reduction.result || n > INT32_MAX || inc_x > INT32_MAX || inc_y > INT32_MAX)
        return BLAS_INVALID_VALUE;
    reduction.element = element;
    reduction.n = (int)n, reduction.inc_x = (int)inc_x, reduction.inc_y = (int)inc_y;
    reduction.function = blas_function(fortran);
    if (!reduction.function)
        return BLAS_NOT_INITIALIZED;
    double vectors = reduction.y ? 2 : 1;
    struct lk_library_call call = {.name = name,
                                   .function = run_reduction,
                                   .data = &reduction,
                                   .size = sizeof reduction,
                                   .operations = 2 * (double)n,
                                   .bytes = vectors * (double)n * (double)element,
                                   .unit = element >= 8 ? LK_UNIT_F64 : LK_UNIT_F32};
    CUresult status = lk_library_call(handle->stream, &call);
    if (status == CUDA_SUCCESS && !handle->device_scalars)
        status = cuStreamSynchronize(handle->stream);
    return blas_status_of(status);
}

#define DOT(symbol, whole, shown, fortran, kind_letter, bytes)                                     \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, const void *x,       \
                                   whole inc_x, const void *y, whole inc_y, void *result);         \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, const void *x,       \
                                   whole inc_x, const void *y, whole inc_y, void *result)          \
    {                                                                                              \
        struct reduction r = {                                                                     \
            .kind = kind_letter, .x = x, .y = y, .result = result, .size = bytes};                 \
        return reduce(handle, shown, fortran, r, n, inc_x, inc_y, bytes);                          \
    }
#define BOTH_DOT(name, fortran, kind, bytes)                                                       \
    DOT(cublas##name##_v2, int, "cublas" #name, fortran, kind, bytes)                              \
    DOT(cublas##name##_v2_64, int64_t, "cublas" #name, fortran, kind, bytes)
BOTH_DOT(Sdot, "sdot_", 's', 4)
BOTH_DOT(Ddot, "ddot_", 'd', 8)
BOTH_DOT(Cdotu, "cdotu_", 'c', 8)
BOTH_DOT(Cdotc, "cdotc_", 'c', 8)
BOTH_DOT(Zdotu, "zdotu_", 'z', 16)
BOTH_DOT(Zdotc, "zdotc_", 'z', 16)

#define ONE(symbol, whole, result_type, shown, fortran, kind_letter, element)                      \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, const void *x,       \
                                   whole inc_x, result_type *result);                              \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, const void *x,       \
                                   whole inc_x, result_type *result)                               \
    {                                                                                              \
        struct reduction r = {                                                                     \
            .kind = kind_letter, .x = x, .result = result, .size = sizeof *result};                \
        return reduce(handle, shown, fortran, r, n, inc_x, 1, element);                            \
    }
#define BOTH_ONE(name, result, fortran, kind, element)                                             \
    ONE(cublas##name##_v2, int, result, "cublas" #name, fortran, kind, element)                    \
    ONE(cublas##name##_v2_64, int64_t, result, "cublas" #name, fortran, kind, element)
#define BOTH_PLACE(name, fortran, element)                                                         \
    ONE(cublas##name##_v2, int, int, "cublas" #name, fortran, 'i', element)                        \
    ONE(cublas##name##_v2_64, int64_t, int64_t, "cublas" #name, fortran, 'i', element)
BOTH_ONE(Snrm2, float, "snrm2_", 's', 4)
BOTH_ONE(Dnrm2, double, "dnrm2_", 'd', 8)
BOTH_ONE(Scnrm2, float, "scnrm2_", 's', 8)
BOTH_ONE(Dznrm2, double, "dznrm2_", 'd', 16)
BOTH_ONE(Sasum, float, "sasum_", 's', 4)
BOTH_ONE(Dasum, double, "dasum_", 'd', 8)
BOTH_ONE(Scasum, float, "scasum_", 's', 8)
BOTH_ONE(Dzasum, double, "dzasum_", 'd', 16)
BOTH_PLACE(Isamax, "isamax_", 4)
BOTH_PLACE(Idamax, "idamax_", 8)
BOTH_PLACE(Icamax, "icamax_", 8)
BOTH_PLACE(Izamax, "izamax_", 16)
BOTH_PLACE(Isamin, "isamin_", 4)
BOTH_PLACE(Idamin, "idamin_", 8)
BOTH_PLACE(Icamin, "icamin_", 8)
BOTH_PLACE(Izamin, "izamin_", 16)
