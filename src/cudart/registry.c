/*
 * registry.c: what a program's compiled-in start-up code announced: fatbins, and the kernels and
 * variables in them, by the host addresses that the program uses for them. A fatbin is loaded when
 * something in it is first needed, so the order of static constructors does not matter.
 * Invariants, all under `lock`:
 *   R1  by_host has every registered kernel and variable by its host address, and kernels also by
 *       the address of their record, which is what __cudaGetKernel returns.
 *   R2  Records are never freed: a removed one is only taken out of by_host (keys point into it).
 *   R3  A fatbin is loaded at most once; a failed load gives the same error every time.
 */
#include "base/arena.h"
#include "base/map.h"
#include "cudart/cudart.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct cudart_fatbin {
    const struct cudart_fatbin_wrapper *wrapper;
    struct cudart_kernel *kernels;
    struct cudart_variable *variables;
    bool tried, partial; /* partial: linked without the parts that have no PTX */
    cudart_code error;
    CUlibrary library;
};

/* An entry of by_host. */
struct entry {
    const void *key;
    struct cudart_kernel *kernel;
    struct cudart_variable *variable;
};

/* Recursive because place_managed works under it. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct lk_map by_host;   /* host address -> struct entry */
static struct lk_map by_handle; /* CUkernel or CUfunction -> struct cudart_kernel */

void cudart_registry_forked(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void put(const void *address, struct cudart_kernel *kernel, struct cudart_variable *variable)
{
    struct entry *entry = lk_map_get(&by_host, (const char *)&address, sizeof address);
    if (!entry) {
        entry = lk_alloc_zeroed(sizeof *entry);
        entry->key = address;
        lk_map_put(&by_host, (const char *)&entry->key, sizeof entry->key, entry);
    }
    entry->kernel = kernel;
    entry->variable = variable;
}

static struct entry *get(const void *address)
{
    return lk_map_get(&by_host, (const char *)&address, sizeof address);
}

struct cudart_fatbin *cudart_add_fatbin(const struct cudart_fatbin_wrapper *wrapper)
{
    struct cudart_fatbin *fatbin = lk_alloc_zeroed(sizeof *fatbin);
    fatbin->wrapper = wrapper;
    return fatbin;
}

void cudart_remove_fatbin(struct cudart_fatbin *fatbin)
{
    pthread_mutex_lock(&lock);
    for (struct cudart_kernel *kernel = fatbin->kernels; kernel; kernel = kernel->next) {
        put(kernel->host, NULL, NULL);
        put(kernel, NULL, NULL);
    }
    for (struct cudart_variable *variable = fatbin->variables; variable; variable = variable->next)
        put(variable->host, NULL, NULL);
    fatbin->tried = true;
    fatbin->error = cudaErrorCudartUnloading;
    pthread_mutex_unlock(&lock);
}

void cudart_add_kernel(struct cudart_fatbin *fatbin, const void *host, const char *name)
{
    struct cudart_kernel *kernel = lk_alloc_zeroed(sizeof *kernel);
    kernel->host = host;
    kernel->name = name;
    kernel->fatbin = fatbin;
    pthread_mutex_lock(&lock);
    kernel->next = fatbin->kernels;
    fatbin->kernels = kernel;
    put(host, kernel, NULL);
    put(kernel, kernel, NULL);
    pthread_mutex_unlock(&lock);
}

void cudart_add_variable(struct cudart_fatbin *fatbin, const void *host, const char *name,
                         size_t size, bool managed)
{
    struct cudart_variable *variable = lk_alloc_zeroed(sizeof *variable);
    variable->host = host;
    variable->name = name;
    variable->size = size;
    variable->managed = managed;
    variable->fatbin = fatbin;
    pthread_mutex_lock(&lock);
    variable->next = fatbin->variables;
    fatbin->variables = variable;
    put(host, NULL, variable);
    pthread_mutex_unlock(&lock);
}

/* Loading -------------------------------------------------------------------------------------- */

struct fatbin_header { /* the first bytes of a fatbin */
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* after the header */
};

static size_t fatbin_size(const void *data)
{
    struct fatbin_header header;
    memcpy(&header, data, sizeof header);
    return header.header_size + header.size;
}

/* A program built with -rdc=true: the PTX of its parts is linked when it starts. Most have it
 * beside the machine code that nvlink has made of them, which cannot run here. */
static cudart_code link_parts(const void **parts, CUlibrary *library, bool *partial)
{
    char log[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUlinkState state = NULL;
    void *image;
    size_t size, added = 0, without = 0;
    cudart_code error = cuLinkCreate_v2(2, options, values, &state);
    for (size_t i = 0; !error && parts[i]; i++) {
        cudart_code added_error = cuLinkAddData_v2(state, CU_JIT_INPUT_FATBINARY, (void *)parts[i],
                                                   fatbin_size(parts[i]), "", 0, NULL, NULL);
        /* NVIDIA's device runtime, often among the parts, has no PTX. */
        if (!added_error)
            added++;
        else if (added_error == CUDA_ERROR_NO_BINARY_FOR_GPU)
            without++;
        else
            error = added_error;
    }
    if (!error && !added) {
        error = CUDA_ERROR_NO_BINARY_FOR_GPU;
        log[0] = 0; /* whoever loads the machine code says it */
    }
    if (!error)
        error = cuLinkComplete(state, &image, &size);
    if (!error)
        error = cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
    if (error && log[0])
        fprintf(stderr, "lockstep: linking the program's device code failed: %s\n", log);
    if (state)
        cuLinkDestroy(state);
    *partial = without > 0;
    return error;
}

/* Tells the host code where its __managed__ variables are. */
static cudart_code place_managed(struct cudart_fatbin *fatbin)
{
    for (struct cudart_variable *variable = fatbin->variables; variable;
         variable = variable->next) {
        if (!variable->managed)
            continue;
        CUdeviceptr address;
        size_t size;
        cudart_code error = cuLibraryGetManaged(&address, &size, fatbin->library, variable->name);
        if (error)
            return error;
        *(void **)variable->host = (void *)(uintptr_t)address;
        /* Host code that takes the variable's address gives the managed memory's. */
        put((void *)(uintptr_t)address, NULL, variable);
    }
    return 0;
}

static cudart_code load(struct cudart_fatbin *fatbin)
{
    const struct cudart_fatbin_wrapper *wrapper = fatbin->wrapper;
    if (!wrapper || wrapper->magic != CUDART_FATBIN_MAGIC || !wrapper->data)
        return cudaErrorInvalidKernelImage;
    cudart_code error = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (wrapper->version >= 2 && wrapper->parts && wrapper->parts[0])
        error = link_parts(wrapper->parts, &fatbin->library, &fatbin->partial);
    if (error == CUDA_ERROR_NO_BINARY_FOR_GPU)
        error = cuLibraryLoadData(&fatbin->library, wrapper->data, NULL, NULL, 0, NULL, NULL, 0);
    return error ? error : place_managed(fatbin);
}

cudart_code cudart_load(struct cudart_fatbin *fatbin)
{
    cudart_code error = cudart_enter();
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (!fatbin->tried) {
        fatbin->tried = true;
        fatbin->error = load(fatbin);
    }
    error = fatbin->error;
    pthread_mutex_unlock(&lock);
    return error;
}

/* Looking up ----------------------------------------------------------------------------------- */

struct cudart_kernel *cudart_find_kernel(const void *host)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = get(host);
    struct cudart_kernel *kernel = entry ? entry->kernel : NULL;
    pthread_mutex_unlock(&lock);
    return kernel;
}

/* Remembers whose handle it is. */
static void note_handle(struct cudart_kernel *kernel, const void *handle)
{
    const void **key = lk_alloc(sizeof *key);
    *key = handle;
    lk_map_put(&by_handle, (const char *)key, sizeof *key, kernel);
}

/* Where some object files had no PTX, the kernel is in one of those. */
static cudart_code missing_kernel(const struct cudart_kernel *kernel)
{
    if (!kernel->fatbin->partial)
        return cudaErrorInvalidDeviceFunction;
    fprintf(stderr,
            "lockstep: kernel %s comes from an object file with machine code only and no PTX; "
            "compile that with the -gencode options of the others\n",
            kernel->name);
    return cudaErrorNoKernelImageForDevice;
}

static cudart_code kernel_handle(struct cudart_kernel *kernel, CUkernel *found)
{
    cudart_code error = cudart_load(kernel->fatbin);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (!kernel->handle) {
        error = cuLibraryGetKernel(&kernel->handle, kernel->fatbin->library, kernel->name);
        if (!error)
            note_handle(kernel, kernel->handle);
        else if (error == CUDA_ERROR_NOT_FOUND)
            error = missing_kernel(kernel);
    }
    *found = kernel->handle;
    pthread_mutex_unlock(&lock);
    return error;
}

/* A kernel has a CUfunction for each context. */
static cudart_code kernel_function(struct cudart_kernel *kernel, CUfunction *found)
{
    CUkernel handle;
    cudart_code error = kernel_handle(kernel, &handle);
    if (!error)
        error = cuKernelGetFunction(found, handle);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (kernel->function != *found) {
        kernel->function = *found;
        note_handle(kernel, *found);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

cudart_code cudart_resolve_kernel(const void *function, CUkernel *found)
{
    struct cudart_kernel *kernel = cudart_find_kernel(function);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return kernel_handle(kernel, found);
}

cudart_code cudart_resolve(const void *function, CUfunction *found)
{
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    struct cudart_kernel *kernel = cudart_find_kernel(function);
    if (kernel)
        return kernel_function(kernel, found);
    /* The driver knows its own handles; what it does not know is an invalid handle. */
    if (!cuKernelGetFunction(found, (CUkernel)function))
        return 0;
    CUmodule module;
    *found = (CUfunction)function;
    return cuFuncGetModule(&module, *found) ? (cudart_code)cudaErrorInvalidResourceHandle : 0;
}

const void *cudart_host_of(CUkernel kernel, CUfunction function)
{
    const void *handles[] = {kernel, function};
    struct cudart_kernel *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2 && !found; i++)
        found = lk_map_get(&by_handle, (const char *)&handles[i], sizeof handles[i]);
    pthread_mutex_unlock(&lock);
    return found ? found->host : NULL;
}

cudart_code cudart_symbol(const void *symbol, CUdeviceptr *address, size_t *size)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = symbol ? get(symbol) : NULL;
    struct cudart_variable *variable = entry ? entry->variable : NULL;
    pthread_mutex_unlock(&lock);
    if (!variable)
        return cudaErrorInvalidSymbol;
    cudart_code error = cudart_load(variable->fatbin);
    if (error)
        return error;
    CUlibrary library = variable->fatbin->library;
    error = variable->managed ? cuLibraryGetManaged(address, size, library, variable->name)
                              : cuLibraryGetGlobal(address, size, library, variable->name);
    return error == CUDA_ERROR_NOT_FOUND ? (cudart_code)cudaErrorInvalidSymbol : error;
}
