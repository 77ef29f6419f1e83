/*
 * load.c: the driver API's table from a library: NVIDIA's libcuda.so.1, or ours by the same name.
 * Does not need the machine, so that what links it (liblockstep) works with either.
 */
#include "cuda/load.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bool lk_driver_is_ours(void *library)
{
    return dlsym(library, "lk_driver_marker") != NULL;
}

/* LD_LIBRARY_PATH may lead to our own drop-in, which is marked; the real one then lies in a
 * directory of the system's. */
void *lk_driver_find_real(char **message)
{
    static const char *const places[] = {"libcuda.so.1",
                                         "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                         "/usr/lib64/libcuda.so.1",
                                         "/usr/lib/libcuda.so.1",
                                         "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                         "/usr/lib/wsl/lib/libcuda.so.1",
                                         "/usr/local/cuda/compat/libcuda.so.1"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        if (library && !lk_driver_is_ours(library))
            return library;
        if (library)
            dlclose(library);
    }
    *message = lk_format("there is no NVIDIA driver here (libcuda.so.1); sim:h200 needs none");
    return NULL;
}

bool lk_driver_load(struct lk_driver *table, void *library, char **message)
{
#define FN(result, name, parameters, arguments) *(void **)&table->name = dlsym(library, #name);
#include "cuda/api.def"
    table->simulated = lk_driver_is_ours(library);
    CUresult status = table->cuInit ? table->cuInit(0) : CUDA_ERROR_STUB_LIBRARY;
    if (status == CUDA_SUCCESS)
        return true;
    const char *name = "it did not start";
    if (table->cuGetErrorString)
        table->cuGetErrorString(status, &name);
    *message = lk_format(
        "%s: %s", table->simulated ? "the simulated GPU did not start" : "the NVIDIA driver says",
        name);
    return false;
}

bool lk_driver_has_device(const struct lk_driver *table, const char *gpu, int *device,
                          char **message)
{
    int count = 0;
    char *end;
    const char *colon = strchr(gpu, ':');
    long ordinal = colon ? strtol(colon + 1, &end, 10) : -1;
    if (ordinal < 0 || end == colon + 1 || *end) {
        *message = lk_format("this is no GPU of the machine: %s", gpu);
        return false;
    }
    if (table->cuDeviceGetCount(&count) != CUDA_SUCCESS || ordinal >= count) {
        *message = lk_format("this machine has fewer GPUs: there is no %s", gpu);
        return false;
    }
    *device = (int)ordinal;
    return true;
}
