/*
 * curand.c: the drop-in libcurand for simulated GPUs. NVIDIA's library can also generate on the CPU
 * (curandCreateGeneratorHost), and needs no GPU for that: a generator of a simulated GPU is one of
 * those, whose numbers go into device memory in stream order. So they are NVIDIA's, bit for bit.
 */
#include "clients/driver_calls.h"
#include "clients/vendor.h"
#include "driver/library_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define NAME "libcurand.so.10"

enum {
    RAND_SUCCESS = 0,
    RAND_NOT_INITIALIZED = 101,
    RAND_ALLOCATION_FAILED = 102,
    RAND_LAUNCH_FAILURE = 201,
    RAND_INITIALIZATION_FAILED = 203
};

/* Both of the CPU and of the simulated GPU: the program's handle. */
struct generator {
    void *vendor;
    CUstream stream;
    bool on_host;
};
typedef struct generator *generator_t;

static void *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/curand/lib", NULL};
    library = vendor_open(NAME, wheels);
    if (!library)
        fprintf(stderr, "lockstep: random numbers come from NVIDIA's " NAME ", which is not here; "
                        "'pip install nvidia-curand' (nvidia-curand-cu12), or NVIDIA's CUDA "
                        "toolkit\n");
}

static void *find(const char *name)
{
    pthread_once(&once, open_library);
    return library ? dlsym(library, name) : NULL;
}

#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)
/* NVIDIA's function of that name and type; the surrounding one fails where there is none. */
#define VENDOR(name, ...)                                                                          \
    int (*call)(__VA_ARGS__);                                                                      \
    *(void **)&call = find(name);                                                                  \
    if (!call)                                                                                     \
    return RAND_INITIALIZATION_FAILED

/* Generators -----------------------------------------------------------------------------------*/

static int create(generator_t *result, int type, bool on_host)
{
    VENDOR("curandCreateGeneratorHost", void **, int);
    if (!on_host && lk_library_context() != CUDA_SUCCESS)
        return RAND_INITIALIZATION_FAILED;
    generator_t generator = calloc(1, sizeof *generator);
    if (!generator)
        return RAND_ALLOCATION_FAILED;
    generator->on_host = on_host;
    int status = call(&generator->vendor, type);
    if (status != RAND_SUCCESS)
        free(generator);
    else
        *result = generator;
    return status;
}

API(curandCreateGenerator, generator_t *generator, int type)
{
    return create(generator, type, false);
}

API(curandCreateGeneratorHost, generator_t *generator, int type)
{
    return create(generator, type, true);
}

/* What was asked for comes before a change; then the change holds for what follows. */
static bool is_ready(generator_t generator)
{
    if (generator && !generator->on_host)
        cuStreamSynchronize(generator->stream);
    return generator != NULL;
}

API(curandDestroyGenerator, generator_t generator)
{
    VENDOR("curandDestroyGenerator", void *);
    if (!is_ready(generator))
        return RAND_NOT_INITIALIZED;
    int status = call(generator->vendor);
    free(generator);
    return status;
}

API(curandSetStream, generator_t generator, CUstream stream)
{
    if (!is_ready(generator))
        return RAND_NOT_INITIALIZED;
    generator->stream = stream;
    return RAND_SUCCESS;
}

#define CHANGE(name, type)                                                                         \
    API(name, generator_t generator, type value)                                                   \
    {                                                                                              \
        VENDOR(#name, void *, type);                                                               \
        return is_ready(generator) ? call(generator->vendor, value) : RAND_NOT_INITIALIZED;        \
    }
CHANGE(curandSetPseudoRandomGeneratorSeed, unsigned long long)
CHANGE(curandSetGeneratorOffset, unsigned long long)
CHANGE(curandSetGeneratorOrdering, int)
CHANGE(curandSetQuasiRandomGeneratorDimensions, unsigned)

API(curandGenerateSeeds, generator_t generator)
{
    VENDOR("curandGenerateSeeds", void *);
    return is_ready(generator) ? call(generator->vendor) : RAND_NOT_INITIALIZED;
}

/* Numbers --------------------------------------------------------------------------------------*/

struct request {
    void *vendor, *function;
    void *out;
    size_t count, element;
    enum { PLAIN, FLOATS, DOUBLES, POISSON, BINOMIAL } kind;
    double first, second;
    unsigned trials;
};

static int fill(const struct request *request, void *out)
{
    void *vendor = request->vendor, *f = request->function;
    size_t count = request->count;
    switch (request->kind) {
    case PLAIN:
        return ((int (*)(void *, void *, size_t))f)(vendor, out, count);
    case FLOATS:
        return ((int (*)(void *, void *, size_t, float, float))f)(
            vendor, out, count, (float)request->first, (float)request->second);
    case DOUBLES:
        return ((int (*)(void *, void *, size_t, double, double))f)(
            vendor, out, count, request->first, request->second);
    case POISSON:
        return ((int (*)(void *, void *, size_t, double))f)(vendor, out, count, request->first);
    case BINOMIAL:
        return ((int (*)(void *, void *, size_t, unsigned, double))f)(
            vendor, out, count, request->trials, request->first);
    }
    return RAND_LAUNCH_FAILURE;
}

static void run_fill(void *data)
{
    struct request *request = data;
    void *out = lk_library_bytes(request->out, request->count * request->element);
    if (out && fill(request, out) != RAND_SUCCESS)
        fprintf(stderr, "lockstep: cuRAND's generator failed\n");
    lk_library_wrote(request->out, request->count * request->element);
}

/* In stream order; a generator of the CPU answers at once. */
static int generate(generator_t generator, const char *name, struct request request)
{
    if (!generator)
        return RAND_NOT_INITIALIZED;
    request.vendor = generator->vendor;
    request.function = find(name);
    if (!request.function)
        return RAND_INITIALIZATION_FAILED;
    if (generator->on_host)
        return fill(&request, request.out);
    struct lk_library_call call = {.name = name,
                                   .function = run_fill,
                                   .data = &request,
                                   .size = sizeof request,
                                   .operations = 40 * (double)request.count,
                                   .bytes = (double)(request.count * request.element),
                                   .unit = LK_UNIT_F32};
    return lk_library_call(generator->stream, &call) == CUDA_SUCCESS ? RAND_SUCCESS
                                                                     : RAND_LAUNCH_FAILURE;
}

#define NUMBERS(name, type)                                                                        \
    API(name, generator_t generator, type *out, size_t count)                                      \
    {                                                                                              \
        return generate(generator, #name,                                                          \
                        (struct request){.out = out, .count = count, .element = sizeof *out});     \
    }
#define BY_TWO(name, type, which)                                                                  \
    API(name, generator_t generator, type *out, size_t count, type first, type second)             \
    {                                                                                              \
        return generate(generator, #name,                                                          \
                        (struct request){.out = out,                                               \
                                         .count = count,                                           \
                                         .element = sizeof *out,                                   \
                                         .kind = which,                                            \
                                         .first = (double)first,                                   \
                                         .second = (double)second});                               \
    }
NUMBERS(curandGenerate, unsigned)
NUMBERS(curandGenerateLongLong, unsigned long long)
NUMBERS(curandGenerateUniform, float)
NUMBERS(curandGenerateUniformDouble, double)
BY_TWO(curandGenerateNormal, float, FLOATS)
BY_TWO(curandGenerateLogNormal, float, FLOATS)
BY_TWO(curandGenerateNormalDouble, double, DOUBLES)
BY_TWO(curandGenerateLogNormalDouble, double, DOUBLES)

API(curandGeneratePoisson, generator_t generator, unsigned *out, size_t count, double lambda)
{
    return generate(
        generator, "curandGeneratePoisson",
        (struct request){
            .out = out, .count = count, .element = sizeof *out, .kind = POISSON, .first = lambda});
}

API(curandGenerateBinomial, generator_t generator, unsigned *out, size_t count, unsigned trials,
    double chance)
{
    return generate(generator, "curandGenerateBinomial",
                    (struct request){.out = out,
                                     .count = count,
                                     .element = sizeof *out,
                                     .kind = BINOMIAL,
                                     .trials = trials,
                                     .first = chance});
}

/* The rest is NVIDIA's --------------------------------------------------------------------------*/

#define PASS(name)                                                                                 \
    API(name, long a, long b, long c)                                                              \
    {                                                                                              \
        VENDOR(#name, long, long, long);                                                           \
        return call(a, b, c);                                                                      \
    }
PASS(curandGetVersion)
PASS(curandGetProperty)
PASS(curandGetDirectionVectors32)
PASS(curandGetDirectionVectors64)
PASS(curandGetScrambleConstants32)
PASS(curandGetScrambleConstants64)

#define NO(name)                                                                                   \
    API(name, void)                                                                                \
    {                                                                                              \
        fprintf(stderr, "lockstep: " #name " is not supported on a simulated GPU\n");              \
        return RAND_INITIALIZATION_FAILED;                                                         \
    }
NO(curandCreatePoissonDistribution)
NO(curandDestroyDistribution)
NO(curandGeneratePoissonMethod)
NO(curandGenerateBinomialMethod)
