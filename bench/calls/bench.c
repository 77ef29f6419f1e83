/*
 * bench.c: what a public call costs the host, for lk_gemm and every row of api.def, warm:
 * nanoseconds a call and the driver's functions that it calls. On the driver that does nothing
 * (standin.c) the time is our own; on a GPU it includes the driver's, and the first lines have what
 * that costs by itself.
 *
 *   bench [--only CALL] [--gpu cuda:0] [STANDIN]
 *
 * With the stand-in, CPU time of this thread, so that a busy machine matters little; on a GPU, wall
 * time of queueing, the GPU being idle at the start of each sample. Medians of SAMPLES each.
 */
#include "standin.h"

#include "base/buf.h"
#include "zoo/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 41, CALLS_IN_A_SAMPLE = 200, WORKSPACE = 1 << 28 };

static const struct lk_driver *cuda;
static const unsigned long *counts; /* NULL on a GPU */
static void *memory[ZOO_BUFFERS], *workspace;
static size_t memory_bytes[ZOO_BUFFERS];
static CUstream stream;

static _Noreturn void stop(const char *what, const char *why)
{
    fprintf(stderr, "bench-calls: %s: %s\n", what, why);
    exit(1);
}

static void must(lk_status status, const char *what)
{
    if (status != LK_OK)
        stop(what, lk_last_error());
}

/* Time ------------------------------------------------------------------------------------------*/

static double now(void)
{
    struct timespec time;
    clock_gettime(counts ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of one run of call(state). */
static double measure(void (*call)(void *state), void *state)
{
    double sample[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        must(lk_wait(stream), "waiting");
        double begin = now();
        for (int k = 0; k < CALLS_IN_A_SAMPLE; k++)
            call(state);
        sample[i] = (now() - begin) / CALLS_IN_A_SAMPLE;
    }
    must(lk_wait(stream), "waiting");
    qsort(sample, SAMPLES, sizeof *sample, compare);
    return sample[SAMPLES / 2];
}

/* A public call ---------------------------------------------------------------------------------*/

struct run {
    enum api_id id;
    int64_t sizes[ZOO_PARAMETERS];
    const void *buffers[ZOO_BUFFERS];
};

static void call_once(void *state)
{
    const struct run *run = state;
    must(api_run(run->id, stream, run->sizes, run->buffers, workspace, WORKSPACE),
         api_call(run->id)->name);
}

/* What the family generates: offsets and columns must be right for a GPU. */
static void fill(const struct zoo_problem *problem, const struct zoo_buffer *shapes, unsigned count)
{
    void *host[ZOO_BUFFERS] = {NULL};
    for (unsigned i = 0; i < count; i++)
        if (!(host[i] = calloc(1, zoo_buffer_bytes(&shapes[i]) + 1)))
            stop("the input", "no memory");
    problem->family->generate(problem, host);
    for (unsigned i = 0; i < count; i++) {
        must(lk_copy_to(memory[i], host[i], zoo_buffer_bytes(&shapes[i])), "copying");
        free(host[i]);
    }
}

/* Each size at its normal value, but at most this. What is 0 by default stands for another size. */
static struct run prepare(enum api_id id, int64_t most)
{
    const struct api_call *call = api_call(id);
    const struct zoo_parameter *parameters = call->problem.family->parameters;
    struct zoo_problem problem = call->problem;
    struct zoo_buffer shapes[ZOO_BUFFERS];
    struct run run = {.id = id};
    for (unsigned i = 0; i < call->size_count; i++) {
        int64_t normal = parameters[call->parameter[i]].normal;
        run.sizes[i] = normal && normal < most ? normal : most;
        problem.value[call->parameter[i]] = run.sizes[i];
    }
    for (unsigned i = 0; i < call->scalar_count; i++)
        run.sizes[call->size_count + i] = zoo_from_float(0.5f);
    unsigned count = call->problem.family->shape(&problem, shapes);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes = zoo_buffer_bytes(&shapes[i]) + 256;
        if (bytes > memory_bytes[i]) {
            lk_free(memory[i]);
            must(lk_malloc(&memory[i], bytes), "allocating");
            memory_bytes[i] = bytes;
        }
        run.buffers[i] = memory[i];
    }
    if (!counts)
        fill(&problem, shapes, count);
    return run;
}

/* How often one run of it calls each function of the driver. */
static void count_calls(void (*call)(void *state), void *state, struct lk_buf *text)
{
    static const char *const names[] = {
#define FN(result, name, parameters, arguments) #name,
#include "cuda/api.def"
    };
    unsigned long before[STANDIN_FUNCTIONS];
    if (!counts)
        return;
    memcpy(before, counts, sizeof before);
    call(state);
    for (unsigned i = 0; i < STANDIN_FUNCTIONS; i++) {
        unsigned long more = counts[i] - before[i];
        if (more)
            lk_buf_printf(text, "%s%s", text->size ? ", " : "", names[i]);
        if (more > 1)
            lk_buf_printf(text, " x%lu", more);
    }
}

/* Warm, and a line about it. */
static double report(const char *name, const char *sizes, void (*call)(void *state), void *state)
{
    struct lk_buf driver = {0};
    for (int i = 0; i < 10; i++)
        call(state);
    count_calls(call, state, &driver);
    double ns = measure(call, state);
    printf("%-26s %-22s %7.0f  %s\n", name, sizes, ns, driver.size ? driver.data : "");
    fflush(stdout);
    lk_buf_free(&driver);
    return ns;
}

static double bench_call(enum api_id id, int64_t most)
{
    const struct api_call *call = api_call(id);
    struct run run = prepare(id, most);
    struct lk_buf sizes = {0};
    for (unsigned i = 0; i < call->size_count; i++)
        lk_buf_printf(&sizes, "%s%lld", i ? "," : "", (long long)run.sizes[i]);
    double ns = report(call->name, sizes.data, call_once, &run);
    lk_buf_free(&sizes);
    return ns;
}

/* lk_gemm is no row of api.def. */
static void gemm_once(void *state)
{
    must(lk_gemm(stream, state, workspace, (char *)workspace + WORKSPACE / 4, NULL, NULL,
                 (char *)workspace + WORKSPACE / 2),
         "gemm");
}

static double bench_gemm(int64_t size)
{
    lk_gemm_desc desc = LK_GEMM_DESC(LK_BF16, size, size, size);
    char sizes[32];
    snprintf(sizes, sizeof sizes, "%lld,%lld,%lld", (long long)size, (long long)size,
             (long long)size);
    return report("gemm", sizes, gemm_once, &desc);
}

/* The driver by itself --------------------------------------------------------------------------*/

static const char empty_kernel[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                   ".visible .entry nothing()\n{\n    ret;\n}\n";
static CUfunction nothing;

static void get_current(void *state)
{
    CUcontext context;
    cuda->cuCtxGetCurrent(&context);
}

static void get_id(void *state)
{
    unsigned long long id;
    cuda->cuCtxGetId(NULL, &id);
}

static void get_attribute(void *state)
{
    unsigned kind;
    cuda->cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                (CUdeviceptr)(uintptr_t)workspace);
}

static void get_stream(void *state)
{
    CUcontext context;
    cuda->cuStreamGetCtx(stream, &context);
}

static void launch_nothing(void *state)
{
    cuda->cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

static void bench_driver(void)
{
    static const struct {
        const char *name;
        void (*call)(void *);
    } rows[] = {
        {"cuCtxGetCurrent", get_current},         {"cuCtxGetId(NULL)", get_id},
        {"cuPointerGetAttribute", get_attribute}, {"cuStreamGetCtx", get_stream},
        {"cuLaunchKernel", launch_nothing},
    };
    CUmodule module;
    if (cuda->cuModuleLoadDataEx(&module, empty_kernel, 0, NULL, NULL) != CUDA_SUCCESS ||
        cuda->cuModuleGetFunction(&nothing, module, "nothing") != CUDA_SUCCESS)
        stop("the empty kernel", "it did not load");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%-49s %7.0f\n", rows[i].name, measure(rows[i].call, NULL));
}

int main(int count, char **arguments)
{
    const char *only = NULL, *gpu = NULL, *standin = NULL;
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--only") == 0 && i + 1 < count)
            only = arguments[++i];
        else if (strcmp(arguments[i], "--gpu") == 0 && i + 1 < count)
            gpu = arguments[++i];
        else
            standin = arguments[i];
    if (!gpu) {
        void *library = standin ? dlopen(standin, RTLD_NOW | RTLD_GLOBAL) : NULL;
        standin_counts_function *get =
            library ? (standin_counts_function *)dlsym(library, STANDIN_COUNTS) : NULL;
        if (!get)
            stop("the driver that does nothing", standin ? dlerror() : "its path is missing");
        counts = get();
        unsetenv("LOCKSTEP_GPU");
        gpu = "cuda:0";
    } else if (setenv("LOCKSTEP_GPU", gpu, 1) != 0) {
        stop(gpu, "no memory");
    }
    must(lk_open(NULL), gpu);
    char *message;
    cuda = lk_driver_open(NULL, NULL, &message);
    if (cuda->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        stop("a stream", "the driver refused");
    must(lk_malloc(&workspace, WORKSPACE), "the workspace");
    printf("%-26s %-22s %7s  %s\n", counts ? "the stand-in" : gpu, "sizes", "ns a call",
           counts ? "calls of the driver" : "");
    bench_driver();
    double total = 0, worst = 0;
    unsigned calls = 0;
    for (int64_t size = 64; size <= 1024 && (!only || strstr("gemm", only)); size *= 16, calls++) {
        double ns = bench_gemm(size);
        total += ns;
        worst = ns > worst ? ns : worst;
    }
    for (unsigned id = 0; id < API_CALLS; id++) {
        if (only && !strstr(api_call(id)->name, only))
            continue;
        bool one_size = api_call(id)->size_count == 1;
        for (int large = 0; large < 2; large++, calls++) {
            double ns = bench_call(id, large ? 1 << 20 : one_size ? 1024 : 64);
            total += ns;
            worst = ns > worst ? ns : worst;
        }
    }
    if (calls)
        printf("mean %.0f ns, worst %.0f\n", total / calls, worst);
    return calls ? 0 : 1;
}
