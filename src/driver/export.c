/*
 * export.c: the drop-in libcuda.so.1: the symbols that programs link, and cuGetProcAddress, which
 * finds them by name and by the CUDA version that the caller was built for.
 */
#include "driver/state.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Tells our drop-in from the real driver. */
EXPORT const int lk_driver_marker = CUDA_VERSION;

static CUresult unsupported(const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s is not supported", name);
    drv_remark_once(text);
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define REFUSE_IN_CHILD(name)                                                                      \
    if (__builtin_expect(drv_forked, 0) && drv_fork_refuses(#name))                                \
        return CUDA_ERROR_NOT_INITIALIZED;

/* A call whose stream 0 is the calling thread's own. */
#define PER_THREAD(result, name, suffix, parameters, arguments)                                    \
    EXPORT result name##suffix parameters;                                                         \
    EXPORT result name##suffix parameters                                                          \
    {                                                                                              \
        REFUSE_IN_CHILD(name)                                                                      \
        drv_thread.call = #name;                                                                   \
        drv_thread.per_thread_default++;                                                           \
        result status = drv_##name arguments;                                                      \
        drv_thread.per_thread_default--;                                                           \
        return status;                                                                             \
    }
#define FN(result, name, parameters, arguments)                                                    \
    EXPORT result name parameters;                                                                 \
    EXPORT result name parameters                                                                  \
    {                                                                                              \
        REFUSE_IN_CHILD(name)                                                                      \
        drv_thread.call = #name;                                                                   \
        return drv_##name arguments;                                                               \
    }
#define FN_PTSZ(result, name, parameters, arguments)                                               \
    FN(result, name, parameters, arguments)                                                        \
    PER_THREAD(result, name, _ptsz, parameters, arguments)
#define FN_PTDS(result, name, parameters, arguments)                                               \
    FN(result, name, parameters, arguments)                                                        \
    PER_THREAD(result, name, _ptds, parameters, arguments)
#define NO(name)                                                                                   \
    EXPORT CUresult name(void);                                                                    \
    EXPORT CUresult name(void)                                                                     \
    {                                                                                              \
        return unsupported(#name);                                                                 \
    }
#define NO_PTSZ(name) NO(name) NO(name##_ptsz)
#define NO_PTDS(name) NO(name) NO(name##_ptds)
/* Contexts of 3020 and later take no calls of the versions before: "a user mixes different API
 * versions" is one of the documented reasons for this error. */
#define OLD(name)                                                                                  \
    EXPORT CUresult name(void);                                                                    \
    EXPORT CUresult name(void)                                                                     \
    {                                                                                              \
        return drv_device_count && !drv_forked ? CUDA_ERROR_INVALID_CONTEXT                        \
                                               : CUDA_ERROR_NOT_INITIALIZED;                       \
    }
#include "cuda/api.def"

/* cuGetProcAddress ----------------------------------------------------------------------------- */

struct symbol {
    const char *name;
    void *address, *per_thread;
};

static const struct symbol symbols[] = {
#define FN(result, name, parameters, arguments) {#name, (void *)name, NULL},
#define FN_PTSZ(result, name, parameters, arguments) {#name, (void *)name, (void *)name##_ptsz},
#define FN_PTDS(result, name, parameters, arguments) {#name, (void *)name, (void *)name##_ptds},
#define NO(name) {#name, (void *)name, NULL},
#define NO_PTSZ(name) {#name, (void *)name, (void *)name##_ptsz},
#define NO_PTDS(name) {#name, (void *)name, (void *)name##_ptds},
#include "cuda/api.def"
};

static const struct version {
    const char *base, *symbol;
    int version;
} versions[] = {
#define FN(result, name, parameters, arguments)
#define VERSION(base, symbol, version) {#base, #symbol, version},
#include "cuda/api.def"
};

static const struct symbol *find_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (strcmp(symbols[i].name, name) == 0)
            return &symbols[i];
    }
    return NULL;
}

/* The newest of a base name's symbols; where VERSION lists them, the newest that the caller knows.
 */
static const struct symbol *find_base(const char *base, int version, bool *too_new)
{
    const char *chosen = NULL;
    const struct symbol *found = NULL;
    *too_new = false;
    if (strlen(base) > 3 && strncmp(base + strlen(base) - 3, "_v", 2) == 0)
        return NULL; /* a GPU's driver wants the base name too */
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (strcmp(versions[i].base, base) != 0)
            continue;
        if (versions[i].version <= version)
            chosen = versions[i].symbol;
        else
            *too_new = !chosen;
    }
    if (chosen)
        return find_symbol(chosen);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        size_t length = strlen(base);
        const char *name = symbols[i].name;
        if (strncmp(name, base, length) == 0 &&
            (!name[length] || (strncmp(name + length, "_v", 2) == 0 && !name[length + 3])))
            if (!found || strcmp(name, found->name) > 0)
                found = &symbols[i];
    }
    return found;
}

CUresult drv_cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *why)
{
    bool too_new = false;
    if (!name || !function || !*name || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    const struct symbol *symbol = find_base(name, version, &too_new);
    bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ||
                      (flags == CU_GET_PROC_ADDRESS_DEFAULT && drv_thread.per_thread_default);
    *function = NULL;
    if (symbol && !too_new)
        *function = per_thread && symbol->per_thread ? symbol->per_thread : symbol->address;
    if (why)
        *why = *function ? CU_GET_PROC_ADDRESS_SUCCESS
               : too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function || why ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND; /* why says it all */
}

CUresult drv_cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    return drv_cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* What NVIDIA's CUDA runtime asks for first, and cannot do without. Ours never asks. */
static const unsigned char runtime_table[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/* NVIDIA's own libraries share private tables through this; there are none here. */
CUresult drv_cuGetExportTable(const void **table, const CUuuid *id)
{
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(id, runtime_table, sizeof runtime_table) == 0)
        drv_remark_once("the program, or a library of its, has NVIDIA's CUDA runtime linked into "
                        "it, which talks to NVIDIA's driver only: its calls fail. Link it with "
                        "'nvcc -cudart shared', or see docs/clients.md for packages");
    *table = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult drv_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult drv_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
