/*
 * driver.c: the two tables of driver.h: simt's, filled from api.def, and the real driver's, looked
 * up in libcuda.so.1.
 */
#include "driver/driver.h"
#include "driver/state.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct lk_driver simt_table = {
    .gpu = "sim:h200",
    .simulated = true,
#define FN(result, name, parameters, arguments) .name = drv_##name,
#include "driver/api.def"
};

const struct lk_driver *lk_driver_simt(void)
{
    return &simt_table;
}

static char *say(const char *format, const char *what)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s", format);
    if (what)
        lk_buf_printf(&text, "%s", what);
    return text.data;
}

/* LD_LIBRARY_PATH may lead to our own drop-in, which is marked; the real one then lies in a
 * directory of the system's. */
static void *open_real(char **message)
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
        if (library && !dlsym(library, "lk_driver_marker"))
            return library;
        if (library)
            dlclose(library);
    }
    *message = say("there is no NVIDIA driver here (libcuda.so.1); use --gpu sim:h200", NULL);
    return NULL;
}

static const struct lk_driver *open_cuda(const char *gpu, char **message)
{
    static struct lk_driver table;
    static void *library;
    if (!library) {
        library = open_real(message);
        if (!library)
            return NULL;
#define FN(result, name, parameters, arguments) *(void **)&table.name = dlsym(library, #name);
#include "driver/api.def"
    }
    int count = 0;
    char *end;
    long ordinal = strtol(gpu + 5, &end, 10);
    if (end == gpu + 5 || *end || ordinal < 0) {
        *message = say("this is no GPU of the machine: ", gpu);
        return NULL;
    }
    CUresult status = table.cuInit ? table.cuInit(0) : CUDA_ERROR_STUB_LIBRARY;
    if (status == CUDA_SUCCESS)
        status = table.cuDeviceGetCount(&count);
    if (status != CUDA_SUCCESS) {
        const char *name = "it did not start";
        drv_cuGetErrorString(status, &name);
        *message = say("the NVIDIA driver says: ", name);
        return NULL;
    }
    if (ordinal >= count) {
        *message = say("this machine has fewer GPUs: there is no ", gpu);
        return NULL;
    }
    table.gpu = strdup(gpu);
    return &table;
}

const struct lk_driver *lk_driver_open(const char *gpu, char **message)
{
    *message = NULL;
    if (!gpu)
        gpu = getenv("LOCKSTEP_GPU");
    if (!gpu || !*gpu)
        gpu = "sim:h200";
    if (strncasecmp(gpu, "cuda:", 5) == 0)
        return open_cuda(gpu, message);
    if (!drv_device_count && lk_driver_set_gpu(gpu, message) != CUDA_SUCCESS)
        return NULL;
    free(*message);
    *message = NULL;
    simt_table.gpu = strdup(gpu);
    return &simt_table;
}
