/*
 * fft.c: the drop-in libcufft for simulated GPUs, on FFTW, which is opened when it is needed. Plans
 * of both have the same layouts: rank, sizes, batch, and embedded arrays with stride and distance.
 */
#include "clients/driver_calls.h"
#include "driver/library_call.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

enum {
    FFT_SUCCESS = 0,
    FFT_INVALID_PLAN = 1,
    FFT_ALLOC_FAILED = 2,
    FFT_INVALID_TYPE = 3,
    FFT_INVALID_VALUE = 4,
    FFT_EXEC_FAILED = 6,
    FFT_SETUP_FAILED = 7,
    FFT_INVALID_SIZE = 8,
    FFT_NOT_SUPPORTED = 16
};
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
enum { FORWARD = -1, INVERSE = 1 };
enum { FFTW_DESTROY = 1, FFTW_UNALIGNED = 2, FFTW_ESTIMATE = 64 };
enum { RANK_MAX = 3, PLANS_MAX = 1024 };

/* One side of a transform. */
struct side {
    int embed[RANK_MAX], stride, distance;
};

struct plan {
    bool used, made, packed; /* packed: no layout was given */
    int type, rank, n[RANK_MAX], batch;
    struct side in, out;
    CUstream stream;
};

static struct plan plans[PLANS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of plans, and of FFTW's planner */

static struct plan *plan_of(int handle)
{
    struct plan *plan = handle > 0 && handle <= PLANS_MAX ? plans + handle - 1 : NULL;
    return plan && plan->used ? plan : NULL;
}

static bool is_double(int type)
{
    return type >= Z2Z;
}

static bool is_real_to_complex(int type)
{
    return type == R2C || type == D2Z;
}

static bool is_complex_to_real(int type)
{
    return type == C2R || type == Z2D;
}

/* FFTW ------------------------------------------------------------------------------------------*/

static void *libraries[2]; /* float, double */

/* "execute" gives fftwf_execute or fftw_execute; NULL after printing what is missing. */
static void *fftw(bool wide, const char *name)
{
    char full[64];
    if (!libraries[wide])
        libraries[wide] = dlopen(wide ? "libfftw3.so.3" : "libfftw3f.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!libraries[wide]) {
        fprintf(stderr, "lockstep: cuFFT on a simulated GPU needs FFTW: apt-get install %s\n",
                wide ? "libfftw3-double3" : "libfftw3-single3");
        return NULL;
    }
    snprintf(full, sizeof full, "%s_%s", wide ? "fftw" : "fftwf", name);
    return dlsym(libraries[wide], full);
}

/* Elements of the last dimension on a side: the complex half of a real transform is shorter. */
static int last_size(const struct plan *plan, bool is_output)
{
    int n = plan->n[plan->rank - 1];
    bool half = is_output ? is_real_to_complex(plan->type) : is_complex_to_real(plan->type);
    return half ? n / 2 + 1 : n;
}

static size_t element_size(const struct plan *plan, bool is_output)
{
    bool real = is_output ? is_complex_to_real(plan->type) : is_real_to_complex(plan->type);
    return (size_t)(real ? 4 : 8) << is_double(plan->type);
}

/* Bytes from the first element of a side to its last. */
static size_t side_bytes(const struct plan *plan, bool is_output)
{
    const struct side *side = is_output ? &plan->out : &plan->in;
    size_t last = (size_t)(plan->batch - 1) * (size_t)side->distance, step = (size_t)side->stride;
    for (int i = plan->rank - 1; i >= 0; i--) {
        int size = i == plan->rank - 1 ? last_size(plan, is_output) : plan->n[i];
        last += (size_t)(size - 1) * step;
        step *= (size_t)side->embed[i];
    }
    return (last + 1) * element_size(plan, is_output);
}

/* Where no layout was given, real data that is transformed in place is padded to the complex half.
 */
static void lay_out(struct plan *plan, bool in_place)
{
    int n = plan->n[plan->rank - 1], padded = 2 * (n / 2 + 1), rest = 1;
    bool pads_in = in_place && is_real_to_complex(plan->type);
    bool pads_out = in_place && is_complex_to_real(plan->type);
    for (int i = 0; i < plan->rank - 1; i++) {
        plan->in.embed[i] = plan->out.embed[i] = plan->n[i];
        rest *= plan->n[i];
    }
    plan->in.embed[plan->rank - 1] = pads_in ? padded : last_size(plan, false);
    plan->out.embed[plan->rank - 1] = pads_out ? padded : last_size(plan, true);
    plan->in.stride = plan->out.stride = 1;
    plan->in.distance = rest * plan->in.embed[plan->rank - 1];
    plan->out.distance = rest * plan->out.embed[plan->rank - 1];
}

struct transform {
    struct plan plan;
    void *in, *out;
    int direction;
};

static void *make_fftw(const struct plan *plan, int direction, void *in, void *out)
{
    const struct side *from = &plan->in, *to = &plan->out;
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_DESTROY;
    typedef void *complex_plan(int, const int *, int, void *, const int *, int, int, void *,
                               const int *, int, int, int, unsigned);
    typedef void *real_plan(int, const int *, int, void *, const int *, int, int, void *,
                            const int *, int, int, unsigned);
    const char *name = is_real_to_complex(plan->type)   ? "plan_many_dft_r2c"
                       : is_complex_to_real(plan->type) ? "plan_many_dft_c2r"
                                                        : "plan_many_dft";
    void *make = fftw(is_double(plan->type), name);
    if (!make)
        return NULL;
    if (plan->type == C2C || plan->type == Z2Z)
        return ((complex_plan *)make)(plan->rank, plan->n, plan->batch, in, from->embed,
                                      from->stride, from->distance, out, to->embed, to->stride,
                                      to->distance, direction, flags);
    return ((real_plan *)make)(plan->rank, plan->n, plan->batch, in, from->embed, from->stride,
                               from->distance, out, to->embed, to->stride, to->distance, flags);
}

/* FFTW may write into its input, so that gets a copy. */
static void run_transform(void *data)
{
    struct transform *transform = data;
    struct plan *plan = &transform->plan;
    bool wide = is_double(plan->type);
    size_t in_bytes = side_bytes(plan, false), out_bytes = side_bytes(plan, true);
    void *in = lk_library_bytes(transform->in, in_bytes);
    void *out = lk_library_bytes(transform->out, out_bytes);
    if (!in || !out)
        return;
    bool in_place = in == out;
    void *copy = in_place ? in : malloc(in_bytes);
    if (!copy)
        return;
    if (!in_place)
        memcpy(copy, in, in_bytes);
    pthread_mutex_lock(&lock);
    void *made = make_fftw(plan, transform->direction, copy, out);
    pthread_mutex_unlock(&lock);
    void (*execute)(void *) = (void (*)(void *))fftw(wide, "execute");
    void (*destroy)(void *) = (void (*)(void *))fftw(wide, "destroy_plan");
    if (made)
        execute(made);
    pthread_mutex_lock(&lock);
    if (made)
        destroy(made);
    pthread_mutex_unlock(&lock);
    if (!in_place)
        free(copy);
    lk_library_wrote(transform->out, out_bytes);
}

static int execute(const char *name, int handle, int type, void *in, void *out, int direction)
{
    const struct plan *plan = plan_of(handle);
    struct transform transform = {.in = in, .out = out, .direction = direction};
    if (!plan || !plan->made)
        return FFT_INVALID_PLAN;
    if (plan->type != type)
        return FFT_INVALID_TYPE;
    if (!in || !out || (direction != FORWARD && direction != INVERSE))
        return FFT_INVALID_VALUE;
    transform.plan = *plan;
    if (plan->packed)
        lay_out(&transform.plan, in == out);
    if (!fftw(is_double(type), "execute"))
        return FFT_SETUP_FAILED;
    double points = 1;
    for (int i = 0; i < plan->rank; i++)
        points *= plan->n[i];
    struct lk_library_call call = {
        .name = name,
        .function = run_transform,
        .data = &transform,
        .size = sizeof transform,
        .operations = 5 * points * log2(points + 1) * plan->batch,
        .bytes = (double)(side_bytes(&transform.plan, false) + side_bytes(&transform.plan, true)),
        .unit = is_double(type) ? LK_UNIT_F64 : LK_UNIT_F32};
    return lk_library_call(plan->stream, &call) == CUDA_SUCCESS ? FFT_SUCCESS : FFT_EXEC_FAILED;
}

#define EXECUTE(name, type)                                                                        \
    API(cufftExec##name, int handle, void *in, void *out, int direction)                           \
    {                                                                                              \
        return execute("cufftExec" #name, handle, type, in, out, direction);                       \
    }
#define EXECUTE_REAL(name, type, direction)                                                        \
    API(cufftExec##name, int handle, void *in, void *out)                                          \
    {                                                                                              \
        return execute("cufftExec" #name, handle, type, in, out, direction);                       \
    }
EXECUTE(C2C, C2C)
EXECUTE(Z2Z, Z2Z)
EXECUTE_REAL(R2C, R2C, FORWARD)
EXECUTE_REAL(D2Z, D2Z, FORWARD)
EXECUTE_REAL(C2R, C2R, INVERSE)
EXECUTE_REAL(Z2D, Z2D, INVERSE)

API(cufftXtExec, int handle, void *in, void *out, int direction)
{
    const struct plan *plan = plan_of(handle);
    return execute("cufftXtExec", handle, plan ? plan->type : 0, in, out, direction);
}

/* Plans ----------------------------------------------------------------------------------------*/

API(cufftCreate, int *handle)
{
    int status = FFT_ALLOC_FAILED;
    if (!handle)
        return FFT_INVALID_VALUE;
    if (lk_library_context() != CUDA_SUCCESS)
        return FFT_SETUP_FAILED;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PLANS_MAX && status != FFT_SUCCESS; i++)
        if (!plans[i].used) {
            plans[i] = (struct plan){.used = true};
            *handle = i + 1;
            status = FFT_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return status;
}

API(cufftDestroy, int handle)
{
    struct plan *plan = plan_of(handle);
    if (!plan)
        return FFT_INVALID_PLAN;
    plan->used = false; /* what was asked for has a copy of it */
    return FFT_SUCCESS;
}

static bool fits(long long value)
{
    return value > 0 && value <= INT32_MAX;
}

/* embed NULL: packed */
static bool read_side(struct side *side, int rank, const long long *embed, long long stride,
                      long long distance)
{
    for (int i = 0; i < rank; i++) {
        side->embed[i] = (int)embed[i];
        if (i > 0 && !fits(embed[i]))
            return false;
    }
    side->stride = (int)stride;
    side->distance = (int)distance;
    return fits(stride) && distance >= 0 && distance <= INT32_MAX;
}

static int make(int handle, int rank, const long long *n, const long long *in_embed,
                long long in_stride, long long in_distance, const long long *out_embed,
                long long out_stride, long long out_distance, int type, long long batch,
                size_t *work)
{
    struct plan *plan = plan_of(handle);
    if (!plan)
        return FFT_INVALID_PLAN;
    if (type != C2C && type != Z2Z && !is_real_to_complex(type) && !is_complex_to_real(type))
        return FFT_INVALID_TYPE;
    if (rank < 1 || rank > RANK_MAX || !fits(batch))
        return FFT_INVALID_SIZE;
    plan->type = type;
    plan->rank = rank;
    plan->batch = (int)batch;
    for (int i = 0; i < rank; i++) {
        if (!fits(n[i]))
            return FFT_INVALID_SIZE;
        plan->n[i] = (int)n[i];
    }
    plan->packed = !in_embed || !out_embed;
    if (!plan->packed && (!read_side(&plan->in, rank, in_embed, in_stride, in_distance) ||
                          !read_side(&plan->out, rank, out_embed, out_stride, out_distance)))
        return FFT_INVALID_SIZE;
    if (work)
        *work = 0; /* none is needed; what programs allocate for it they may */
    plan->made = true;
    return FFT_SUCCESS;
}

static const long long *widen(const int *values, int rank, long long wide[RANK_MAX])
{
    for (int i = 0; values && i < rank && i < RANK_MAX; i++)
        wide[i] = values[i];
    return values ? wide : NULL;
}

API(cufftMakePlanMany64, int handle, int rank, long long *n, long long *in_embed,
    long long in_stride, long long in_distance, long long *out_embed, long long out_stride,
    long long out_distance, int type, long long batch, size_t *work)
{
    return make(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
                out_distance, type, batch, work);
}

API(cufftMakePlanMany, int handle, int rank, int *n, int *in_embed, int in_stride, int in_distance,
    int *out_embed, int out_stride, int out_distance, int type, int batch, size_t *work)
{
    long long sizes[RANK_MAX] = {0}, from[RANK_MAX], to[RANK_MAX];
    widen(n, rank, sizes);
    return make(handle, rank, sizes, widen(in_embed, rank, from), in_stride, in_distance,
                widen(out_embed, rank, to), out_stride, out_distance, type, batch, work);
}

/* Types are those of cudaDataType; halves are not supported. */
API(cufftXtMakePlanMany, int handle, int rank, long long *n, long long *in_embed,
    long long in_stride, long long in_distance, int in_type, long long *out_embed,
    long long out_stride, long long out_distance, int out_type, long long batch, size_t *work,
    int compute)
{
    static const int known[][3] = {{4, 4, C2C}, {5, 5, Z2Z}, {0, 4, R2C},
                                   {1, 5, D2Z}, {4, 0, C2R}, {5, 1, Z2D}};
    (void)compute;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == in_type && known[i][1] == out_type)
            return make(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
                        out_distance, known[i][2], batch, work);
    fprintf(stderr,
            "lockstep: cufftXtMakePlanMany: types %d and %d are not supported on a "
            "simulated GPU\n",
            in_type, out_type);
    return FFT_NOT_SUPPORTED;
}

static int make_packed(int handle, int rank, int a, int b, int c, int type, int batch, size_t *work)
{
    const long long n[RANK_MAX] = {a, b, c};
    return make(handle, rank, n, NULL, 1, 0, NULL, 1, 0, type, batch, work);
}

API(cufftMakePlan1d, int handle, int n, int type, int batch, size_t *work)
{
    return make_packed(handle, 1, n, 0, 0, type, batch, work);
}

API(cufftMakePlan2d, int handle, int a, int b, int type, size_t *work)
{
    return make_packed(handle, 2, a, b, 0, type, 1, work);
}

API(cufftMakePlan3d, int handle, int a, int b, int c, int type, size_t *work)
{
    return make_packed(handle, 3, a, b, c, type, 1, work);
}

/* Creates one and keeps it if it could be made. */
#define PLAN(name, made, ...)                                                                      \
    API(name, int *handle, __VA_ARGS__)                                                            \
    {                                                                                              \
        int status = cufftCreate(handle);                                                          \
        if (status != FFT_SUCCESS)                                                                 \
            return status;                                                                         \
        status = made;                                                                             \
        if (status != FFT_SUCCESS)                                                                 \
            cufftDestroy(*handle);                                                                 \
        return status;                                                                             \
    }
PLAN(cufftPlan1d, make_packed(*handle, 1, n, 0, 0, type, batch, NULL), int n, int type, int batch)
PLAN(cufftPlan2d, make_packed(*handle, 2, a, b, 0, type, 1, NULL), int a, int b, int type)
PLAN(cufftPlan3d, make_packed(*handle, 3, a, b, c, type, 1, NULL), int a, int b, int c, int type)
PLAN(cufftPlanMany,
     cufftMakePlanMany(*handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
                       out_distance, type, batch, NULL),
     int rank, int *n, int *in_embed, int in_stride, int in_distance, int *out_embed,
     int out_stride, int out_distance, int type, int batch)

API(cufftSetStream, int handle, CUstream stream)
{
    struct plan *plan = plan_of(handle);
    if (plan)
        plan->stream = stream;
    return plan ? FFT_SUCCESS : FFT_INVALID_PLAN;
}

API(cufftGetSize, int handle, size_t *work)
{
    *work = 0;
    return plan_of(handle) ? FFT_SUCCESS : FFT_INVALID_PLAN;
}

/* No work area is needed, so that none is refused. */
#define IGNORE(name, ...)                                                                          \
    API(name, int handle, __VA_ARGS__)                                                             \
    {                                                                                              \
        (void)a, (void)b;                                                                          \
        return plan_of(handle) ? FFT_SUCCESS : FFT_INVALID_PLAN;                                   \
    }
IGNORE(cufftSetAutoAllocation, int a, int b)
IGNORE(cufftSetWorkArea, void *a, void *b)
IGNORE(cufftXtSetWorkAreaPolicy, int a, size_t *b)

API(cufftGetVersion, int *version)
{
    *version = CUFFT_MAJOR * 1000;
    return FFT_SUCCESS;
}

API(cufftGetProperty, int property, int *value)
{
    *value = property == 0 ? CUFFT_MAJOR : 0;
    return FFT_SUCCESS;
}

#define NO(name)                                                                                   \
    API(name, void)                                                                                \
    {                                                                                              \
        fprintf(stderr, "lockstep: " #name " is not supported on a simulated GPU\n");              \
        return FFT_NOT_SUPPORTED;                                                                  \
    }
NO(cufftDebug)
NO(cufftEstimate1d)
NO(cufftEstimate2d)
NO(cufftEstimate3d)
NO(cufftEstimateMany)
NO(cufftGetPlanPropertyInt64)
NO(cufftGetSize1d)
NO(cufftGetSize2d)
NO(cufftGetSize3d)
NO(cufftGetSizeMany)
NO(cufftGetSizeMany64)
NO(cufftResetPlanProperty)
NO(cufftSetPlanPropertyInt64)
NO(cufftXtClearCallback)
NO(cufftXtExecDescriptor)
NO(cufftXtExecDescriptorC2C)
NO(cufftXtExecDescriptorC2R)
NO(cufftXtExecDescriptorD2Z)
NO(cufftXtExecDescriptorR2C)
NO(cufftXtExecDescriptorZ2D)
NO(cufftXtExecDescriptorZ2Z)
NO(cufftXtFree)
NO(cufftXtGetSizeMany)
NO(cufftXtMakePlanGuru64)
NO(cufftXtMalloc)
NO(cufftXtMemcpy)
NO(cufftXtQueryPlan)
NO(cufftXtSetCallback)
NO(cufftXtSetCallbackSharedSize)
NO(cufftXtSetGPUs)
NO(cufftXtSetJITCallback)
NO(cufftXtSetWorkArea)
