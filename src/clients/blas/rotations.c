/*
 * rotations.c: BLAS calls that make a plane rotation (rotg, rotmg) and apply a modified one (rotm).
 * Their numbers are on the host, which waits for them, or on the device, as the pointer mode says.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

enum { NUMBERS_MAX = 5 };

struct rotation {
    void *function;
    int n, inc_x, inc_y; /* rotm */
    struct {
        void *at;
        size_t size; /* 0: there is none */
        bool written;
    } part[NUMBERS_MAX]; /* the function's pointers, in its order */
};

/* The host's view of the parts; false if one leaves its allocation. */
static bool open_parts(const struct rotation *r, void *bytes[NUMBERS_MAX])
{
    for (int i = 0; i < NUMBERS_MAX; i++) {
        bytes[i] = r->part[i].size ? lk_library_bytes(r->part[i].at, r->part[i].size) : NULL;
        if (r->part[i].size && !bytes[i])
            return false;
        if (r->part[i].size && r->part[i].written)
            lk_library_wrote(r->part[i].at, r->part[i].size);
    }
    return true;
}

static void run_rotg(void *data)
{
    typedef void rotg(void *, void *, void *, void *);
    struct rotation *r = data;
    void *p[NUMBERS_MAX];
    if (open_parts(r, p))
        ((rotg *)r->function)(p[0], p[1], p[2], p[3]);
}

static void run_rotmg(void *data)
{
    typedef void rotmg(void *, void *, void *, const void *, void *);
    struct rotation *r = data;
    void *p[NUMBERS_MAX];
    if (open_parts(r, p))
        ((rotmg *)r->function)(p[0], p[1], p[2], p[3], p[4]);
}

static void run_rotm(void *data)
{
    typedef void rotm(const int *, void *, const int *, void *, const int *, const void *);
    struct rotation *r = data;
    void *p[NUMBERS_MAX];
    if (open_parts(r, p))
        ((rotm *)r->function)(&r->n, p[0], &r->inc_x, p[1], &r->inc_y, p[2]);
}

static enum blas_status rotate(const struct blas_handle *handle, const char *name,
                               void (*run)(void *), const char *fortran, struct rotation r)
{
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    for (int i = 0; i < NUMBERS_MAX; i++)
        if (r.part[i].size && !r.part[i].at)
            return BLAS_INVALID_VALUE;
    r.function = blas_function(fortran);
    if (!r.function)
        return BLAS_NOT_INITIALIZED;
    double numbers = (double)(r.part[0].size + r.part[1].size);
    struct lk_library_call call = {.name = name,
                                   .function = run,
                                   .data = &r,
                                   .size = sizeof r,
                                   .operations = 6.0 * r.n,
                                   .bytes = 2 * numbers,
                                   .unit = LK_UNIT_F32};
    CUresult status = lk_library_call(handle->stream, &call);
    if (status == CUDA_SUCCESS && !handle->device_scalars)
        status = cuStreamSynchronize(handle->stream);
    return blas_status_of(status);
}

#define ROTG(X, x, number, real)                                                                   \
    EXPORT enum blas_status cublas##X##rotg_v2(const struct blas_handle *handle, void *a, void *b, \
                                               void *c, void *s);                                  \
    EXPORT enum blas_status cublas##X##rotg_v2(const struct blas_handle *handle, void *a, void *b, \
                                               void *c, void *s)                                   \
    {                                                                                              \
        return rotate(handle, "cublas" #X "rotg", run_rotg, #x "rotg_",                            \
                      (struct rotation){.part = {{a, number, true},                                \
                                                 {b, number, true},                                \
                                                 {c, real, true},                                  \
                                                 {s, number, true}}});                             \
    }
ROTG(S, s, 4, 4)
ROTG(D, d, 8, 8)
ROTG(C, c, 8, 4)
ROTG(Z, z, 16, 8)

/* Bytes of n elements, `inc` apart in either direction. */
static size_t span(int64_t n, int64_t inc, size_t element)
{
    return n > 0 ? ((size_t)(n - 1) * (size_t)(inc < 0 ? -inc : inc) + 1) * element : 0;
}

#define ROTM(symbol, whole, shown, fortran, element)                                               \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, void *x,             \
                                   whole inc_x, void *y, whole inc_y, const void *param);          \
    EXPORT enum blas_status symbol(const struct blas_handle *handle, whole n, void *x,             \
                                   whole inc_x, void *y, whole inc_y, const void *param)           \
    {                                                                                              \
        if (n > INT32_MAX || inc_x > INT32_MAX || inc_y > INT32_MAX)                               \
            return BLAS_INVALID_VALUE;                                                             \
        return rotate(                                                                             \
            handle, shown, run_rotm, fortran,                                                      \
            (struct rotation){.n = (int)n,                                                         \
                              .inc_x = (int)inc_x,                                                 \
                              .inc_y = (int)inc_y,                                                 \
                              .part = {{x, span(n, inc_x, element), true},                         \
                                       {y, span(n, inc_y, element), true},                         \
                                       {(void *)(uintptr_t)param, 5 * (element), false}}});        \
    }
#define ROTMG(X, x, element)                                                                       \
    EXPORT enum blas_status cublas##X##rotmg_v2(const struct blas_handle *handle, void *d1,        \
                                                void *d2, void *x1, const void *y1, void *param);  \
    EXPORT enum blas_status cublas##X##rotmg_v2(const struct blas_handle *handle, void *d1,        \
                                                void *d2, void *x1, const void *y1, void *param)   \
    {                                                                                              \
        return rotate(handle, "cublas" #X "rotmg", run_rotmg, #x "rotmg_",                         \
                      (struct rotation){.part = {{d1, element, true},                              \
                                                 {d2, element, true},                              \
                                                 {x1, element, true},                              \
                                                 {(void *)(uintptr_t)y1, element, false},          \
                                                 {param, 5 * (element), true}}});                  \
    }
ROTM(cublasSrotm_v2, int, "cublasSrotm", "srotm_", 4)
ROTM(cublasSrotm_v2_64, int64_t, "cublasSrotm", "srotm_", 4)
ROTM(cublasDrotm_v2, int, "cublasDrotm", "drotm_", 8)
ROTM(cublasDrotm_v2_64, int64_t, "cublasDrotm", "drotm_", 8)
ROTMG(S, s, 4)
ROTMG(D, d, 8)
