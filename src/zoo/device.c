/*
 * device.c: a GPU, real or simulated, for the families: opened through its driver, a variant's
 * kernels loaded on it, and launched.
 */
#include "zoo/device.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opening ---------------------------------------------------------------------------------------*/

static bool read_attributes(struct zoo_device *device)
{
    const struct lk_driver *cuda = device->cuda;
    int major = 0, minor = 0;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->sm_count},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &device->threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device->shared_per_block},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &device->l2_bytes},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (cuda->cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, device->device) !=
            CUDA_SUCCESS)
            return false;
    device->arch = major * 10 + minor;
    return cuda->cuDeviceGetName(device->name, sizeof device->name, device->device) ==
               CUDA_SUCCESS &&
           cuda->cuDeviceTotalMem_v2(&device->memory_bytes, device->device) == CUDA_SUCCESS;
}

bool zoo_device_from(struct zoo_device *device, const struct lk_driver *cuda, CUdevice number,
                     CUcontext context)
{
    *device = (struct zoo_device){.cuda = cuda, .device = number, .context = context};
    return read_attributes(device);
}

bool zoo_device_open(const char *gpu, struct zoo_device *device, char **message)
{
    int number = 0;
    CUcontext context;
    const struct lk_driver *cuda = lk_driver_open(gpu, &number, message);
    if (!cuda)
        return false;
    CUresult status = cuda->cuDevicePrimaryCtxRetain(&context, number);
    if (status == CUDA_SUCCESS)
        status = cuda->cuCtxSetCurrent(context);
    if (status == CUDA_SUCCESS && zoo_device_from(device, cuda, number, context))
        return true;
    *message = lk_format("%s did not open: %s", gpu, zoo_error(cuda, status));
    return false;
}

const char *zoo_error(const struct lk_driver *cuda, CUresult status)
{
    const char *text = "unknown error";
    cuda->cuGetErrorString(status, &text);
    return text;
}

/* Kernels ---------------------------------------------------------------------------------------*/

struct kernel {
    char *name;
    uint64_t hash; /* of the name */
    CUfunction function;
    unsigned shared;   /* the dynamic shared memory that it was allowed */
    uint64_t resident; /* the driver's last answer to zoo_resident; see there */
};

struct zoo_kernels {
    const struct zoo_device *device;
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    const struct zoo_source *source;
    CUmodule module;
    struct zoo_tuning tuning;
    /* A cache that threads fill under the lock and read without it: a kernel is complete before it
     * is counted, and stays where it is. */
    pthread_mutex_t lock;
    struct kernel kernel[ZOO_KERNELS];
    unsigned kernel_count;
    char missing[80];             /* of the last kernel that was not found: what call->error says */
    struct zoo_kernels *borrowed; /* what zoo_borrow has loaded; and the next of such a list */
    struct zoo_kernels *next;
};

/* "90a" runs on exactly 9.0, "80" on 8.0 and newer. */
bool zoo_runs_on(const struct zoo_source *source, int arch)
{
    int needed = (int)strtol(source->arch, NULL, 10);
    return strchr(source->arch, 'a') ? arch == needed : arch >= needed;
}

struct zoo_tuning zoo_tuning_normal(const struct zoo_source *source)
{
    struct zoo_tuning tuning = {0};
    for (unsigned i = 0; i < source->tunable_count; i++)
        tuning.value[i] = source->tunables[i].normal;
    return tuning;
}

bool zoo_tuning_is_built_in(const struct zoo_source *source, const struct zoo_tuning *tuning)
{
    for (unsigned i = 0; i < source->written_count; i++)
        if (tuning->value[i] != source->tunables[i].normal)
            return false;
    return true;
}

static char *why_not(const struct zoo_device *device, const struct zoo_family *family,
                     const struct zoo_variant *variant, CUresult status, const char *log)
{
    return lk_format("%s/%s did not load: %s%s%s", family->name, variant->name,
                     zoo_error(device->cuda, status), *log ? "\n" : "", log);
}

struct zoo_kernels *zoo_kernels_load(const struct zoo_device *device,
                                     const struct zoo_family *family,
                                     const struct zoo_variant *variant, const char *ptx,
                                     const struct zoo_tuning *tuning, char **message)
{
    const struct zoo_source *source = zoo_source(family, variant);
    *message = NULL;
    if (!source) {
        *message = lk_format("%s/%s runs on the CPU, not on %s", family->name, variant->name,
                             device->name);
        return NULL;
    }
    if (!zoo_runs_on(source, device->arch)) {
        *message = lk_format("%s/%s needs sm_%s; %s is sm_%d", family->name, variant->name,
                             source->arch, device->name, device->arch);
        return NULL;
    }
    size_t size;
    char *built_in = ptx ? NULL : zoo_ptx(source, &size, message);
    if (!ptx && !built_in)
        return NULL;
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    struct zoo_kernels *kernels = lk_alloc_zeroed(sizeof *kernels);
    *kernels = (struct zoo_kernels){.device = device,
                                    .family = family,
                                    .variant = variant,
                                    .source = source,
                                    .lock = PTHREAD_MUTEX_INITIALIZER,
                                    .tuning = tuning ? *tuning : zoo_tuning_normal(source)};
    CUresult status = device->cuda->cuModuleLoadDataEx(&kernels->module, ptx ? ptx : built_in, 2,
                                                       options, values);
    free(built_in);
    if (status == CUDA_SUCCESS)
        return kernels;
    *message = why_not(device, family, variant, status, log);
    free(kernels);
    return NULL;
}

/* Asked before anything is loaded, so of tunables and the device alone. */
bool zoo_fits(const struct zoo_device *device, const struct zoo_variant *variant,
              const struct zoo_tuning *tuning, const struct zoo_problem *problem)
{
    const struct zoo_source *source = zoo_source(problem->family, variant);
    if (!variant->fits || !source)
        return true;
    struct zoo_kernels kernels = {.device = device,
                                  .family = problem->family,
                                  .variant = variant,
                                  .source = source,
                                  .tuning = tuning ? *tuning : zoo_tuning_normal(source)};
    return variant->fits(
        &(struct zoo_call){.problem = problem, .device = device, .kernels = &kernels});
}

void zoo_kernels_forget(struct zoo_kernels *kernels)
{
    if (!kernels)
        return;
    for (struct zoo_kernels *next, *each = kernels->borrowed; each; each = next) {
        next = each->next;
        zoo_kernels_forget(each);
    }
    for (unsigned i = 0; i < kernels->kernel_count; i++)
        free(kernels->kernel[i].name);
    free(kernels);
}

void zoo_kernels_free(struct zoo_kernels *kernels)
{
    if (kernels)
        kernels->device->cuda->cuModuleUnload(kernels->module);
    for (struct zoo_kernels *each = kernels ? kernels->borrowed : NULL; each; each = each->next)
        each->device->cuda->cuModuleUnload(each->module);
    zoo_kernels_forget(kernels);
}

int zoo_tunable(const struct zoo_call *call, const char *name)
{
    const struct zoo_kernels *kernels = call->kernels;
    const struct zoo_source *source = kernels->source;
    for (unsigned i = 0; i < source->tunable_count; i++)
        if (strcmp(source->tunables[i].name, name) == 0)
            return kernels->tuning.value[i];
    fprintf(stderr, "lockstep: %s/%s.cu declares no tunable '%s'\n", kernels->family->name,
            kernels->variant->name, name);
    abort();
}

/* Names of one variant have much in common: comparing them all takes longer than this. */
static uint64_t hash_name(const char *name)
{
    return lk_hash64(LK_HASH64, name, strlen(name));
}

static struct kernel *find_kernel(struct zoo_kernels *kernels, const char *name)
{
    unsigned count = __atomic_load_n(&kernels->kernel_count, __ATOMIC_ACQUIRE);
    uint64_t hash = hash_name(name);
    for (unsigned i = 0; i < count; i++)
        if (kernels->kernel[i].hash == hash && strcmp(kernels->kernel[i].name, name) == 0)
            return &kernels->kernel[i];
    return NULL;
}

/* Under the lock, as what follows: looked up in the module, and kept. */
static struct kernel *add_kernel(struct zoo_call *call, struct zoo_kernels *kernels,
                                 const char *name, CUresult *status)
{
    if (kernels->kernel_count == ZOO_KERNELS) {
        call->error = "too many kernels in one variant";
        *status = CUDA_ERROR_NOT_FOUND;
        return NULL;
    }
    struct kernel *kernel = &kernels->kernel[kernels->kernel_count];
    *status = call->device->cuda->cuModuleGetFunction(&kernel->function, kernels->module, name);
    if (*status != CUDA_SUCCESS) {
        snprintf(kernels->missing, sizeof kernels->missing, "it has no kernel '%s'", name);
        call->error = kernels->missing;
        return NULL;
    }
    kernel->name = strdup(name);
    kernel->hash = hash_name(name);
    __atomic_store_n(&kernels->kernel_count, kernels->kernel_count + 1, __ATOMIC_RELEASE);
    return kernel;
}

/* More than 48 KiB must be asked for, what the kernel declares itself among them; asking for less
 * does no harm. */
static bool may_use(struct kernel *kernel, unsigned shared)
{
    return shared == 0 || shared <= __atomic_load_n(&kernel->shared, __ATOMIC_ACQUIRE);
}

static CUresult allow_shared(const struct zoo_call *call, struct kernel *kernel, unsigned bytes)
{
    if (may_use(kernel, bytes))
        return CUDA_SUCCESS;
    CUresult status = call->device->cuda->cuFuncSetAttribute(
        kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    if (status == CUDA_SUCCESS)
        __atomic_store_n(&kernel->shared, bytes, __ATOMIC_RELEASE);
    return status;
}

/* The kernel, allowed this much shared memory; NULL after an error. */
static struct kernel *prepare(struct zoo_call *call, const char *name, unsigned shared,
                              CUresult *status)
{
    struct zoo_kernels *kernels = (struct zoo_kernels *)call->kernels; /* the cache in it */
    struct kernel *kernel = find_kernel(kernels, name);
    if (kernel && may_use(kernel, shared))
        return kernel;
    *status = CUDA_SUCCESS;
    pthread_mutex_lock(&kernels->lock);
    kernel = find_kernel(kernels, name);
    if (!kernel)
        kernel = add_kernel(call, kernels, name, status);
    if (kernel)
        *status = allow_shared(call, kernel, shared);
    pthread_mutex_unlock(&kernels->lock);
    return *status == CUDA_SUCCESS ? kernel : NULL;
}

CUresult zoo_launch(struct zoo_call *call, const char *name, struct zoo_grid grid, void **arguments)
{
    const struct lk_driver *cuda = call->device->cuda;
    CUresult status;
    const struct kernel *kernel = prepare(call, name, grid.shared, &status);
    if (!kernel)
        return status;
    CUfunction function = kernel->function;
    unsigned x = grid.x ? grid.x : 1, y = grid.y ? grid.y : 1, z = grid.z ? grid.z : 1;
    unsigned tx = grid.threads ? grid.threads : 1, ty = grid.ty ? grid.ty : 1,
             tz = grid.tz ? grid.tz : 1;
    CUlaunchAttribute attributes[2];
    unsigned count = 0;
    if (grid.overlaps)
        attributes[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                .value.programmaticStreamSerializationAllowed = 1};
    if (grid.cluster > 1)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                                  .value.clusterDim = {grid.cluster, 1, 1}};
    if (count > 0) {
        CUlaunchConfig config = {x, y, z, tx, ty, tz, grid.shared, call->stream, attributes, count};
        return cuda->cuLaunchKernelEx(&config, function, arguments, NULL);
    }
    if (grid.cooperative)
        return cuda->cuLaunchCooperativeKernel(function, x, y, z, tx, ty, tz, grid.shared,
                                               call->stream, arguments);
    return cuda->cuLaunchKernel(function, x, y, z, tx, ty, tz, grid.shared, call->stream, arguments,
                                NULL);
}

static const struct zoo_kernels *find_borrowed(const struct zoo_kernels *lender,
                                               const struct zoo_variant *variant)
{
    const struct zoo_kernels *each = __atomic_load_n(&lender->borrowed, __ATOMIC_ACQUIRE);
    while (each && each->variant != variant)
        each = each->next;
    return each;
}

const struct zoo_kernels *zoo_borrow(struct zoo_call *call, const char *name, CUresult *status)
{
    struct zoo_kernels *kernels = (struct zoo_kernels *)call->kernels; /* the list in it */
    const struct zoo_family *family = kernels->variant->borrows;
    const struct zoo_variant *variant = family ? zoo_find_variant(family, name) : NULL;
    char *message = NULL;
    *status = CUDA_SUCCESS;
    if (!variant) {
        call->error = "it borrows a kernel that there is not";
        *status = CUDA_ERROR_NOT_FOUND;
        return NULL;
    }
    const struct zoo_kernels *found = find_borrowed(kernels, variant);
    if (found)
        return found;
    pthread_mutex_lock(&kernels->lock);
    found = find_borrowed(kernels, variant);
    if (!found) {
        struct zoo_kernels *made =
            zoo_kernels_load(call->device, family, variant, NULL, NULL, &message);
        if (made) {
            made->next = kernels->borrowed;
            __atomic_store_n(&kernels->borrowed, made, __ATOMIC_RELEASE);
        } else {
            snprintf(kernels->missing, sizeof kernels->missing, "%s", message);
            call->error = kernels->missing;
            *status = CUDA_ERROR_NOT_FOUND;
        }
        found = made;
    }
    pthread_mutex_unlock(&kernels->lock);
    free(message);
    return found;
}

/* One word, so that threads need no lock, holds the question and the answer: shared memory,
 * threads, blocks. It is 0 at the start, when nothing was asked: no block has 0 threads. */
unsigned zoo_resident(struct zoo_call *call, const char *name, unsigned threads, unsigned shared)
{
    int blocks = 0;
    CUresult status;
    struct kernel *kernel = prepare(call, name, shared, &status);
    if (!kernel)
        return 0;
    uint64_t question = (uint64_t)shared << 32 | (uint64_t)(threads & 0xffff) << 16;
    uint64_t known = __atomic_load_n(&kernel->resident, __ATOMIC_RELAXED);
    if (known >> 16 == question >> 16)
        return (unsigned)known & 0xffff;
    if (call->device->cuda->cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel->function, (int)threads, shared) != CUDA_SUCCESS)
        return 0;
    if (threads > 0 && threads <= 0xffff && blocks <= 0xffff)
        __atomic_store_n(&kernel->resident, question | (unsigned)blocks, __ATOMIC_RELAXED);
    return (unsigned)blocks;
}

CUresult zoo_clear(struct zoo_call *call, CUdeviceptr at, size_t bytes)
{
    return call->device->cuda->cuMemsetD8Async(at, 0, bytes, call->stream);
}

CUresult zoo_kernel_attribute(struct zoo_call *call, unsigned index, CUfunction_attribute attribute,
                              const char **name, int *value)
{
    if (index >= call->kernels->kernel_count)
        return CUDA_ERROR_NOT_FOUND;
    const struct kernel *kernel = &call->kernels->kernel[index];
    *name = kernel->name;
    return call->device->cuda->cuFuncGetAttribute(value, attribute, kernel->function);
}
