/*
 * open.c: the one way to open a driver: by a GPU's name, or the one that the program has loaded
 * already. A process has one driver; the first caller decides. Needs nothing of the machine, so
 * that what links it (lockstep, liblockstep, tests) works beside NVIDIA's libcuda.so.1 and ours.
 */
#include "cuda/driver.h"
#include "cuda/load.h"

#include "base/buf.h"
#include "gpu/gpu.h"
#include "host/files.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lk_driver table; /* table.gpu is NULL until a driver is chosen */
static bool chosen;            /* written last: from then on the table is read without the lock */

static bool is_simulated(const char *gpu)
{
    return gpu && strncasecmp(gpu, "sim:", 4) == 0;
}

/* "cuda:N", "sim:ID" or "sim:IDxN", with an ID that is known. */
static bool check_name(const char *gpu, char **message)
{
    struct lk_buf text = {0};
    if (strncasecmp(gpu, "cuda:", 5) == 0)
        return true;
    if (!is_simulated(gpu)) {
        lk_buf_printf(&text, "a GPU is sim:NAME or cuda:N, as in sim:h200, not '%s'", gpu);
        *message = text.data;
        return false;
    }
    unsigned count;
    return gpu_parse(gpu, &count, message) != NULL;
}

/* The libcuda.so.1 that the process has; both drivers go by that name. */
static void *find_loaded(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
}

/* The file that this code is linked into. A program's name is what it was started as, which need
 * not be a path; a library's is one. */
static bool own_file(char real[PATH_MAX])
{
    Dl_info self;
    if (!dladdr((void *)lk_driver_open, &self))
        return false;
    if (strchr(self.dli_fname, '/') && realpath(self.dli_fname, real))
        return true;
    snprintf(real, PATH_MAX, "%s", host_program());
    return real[0] != 0;
}

static void *open_ours(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library || lk_driver_is_ours(library))
        return library;
    dlclose(library);
    return NULL;
}

/* Ours lies beside what this code is linked into, or in ../lib/lockstep, or lockstep/. */
static void *open_beside(void)
{
    static const char *const places[] = {"", "/lockstep", "/../lib/lockstep"};
    char path[PATH_MAX], real[PATH_MAX];
    if (!own_file(real))
        return NULL;
    char *slash = strrchr(real, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%.*s%s/libcuda.so.1", PATH_MAX - 64, real, places[i]);
        void *library = open_ours(path);
        if (library)
            return library;
    }
    return NULL;
}

/* Or where the loader looks: by LD_LIBRARY_PATH, or by the program's own RUNPATH. */
static void *open_simulated(char **message)
{
    void *library = find_loaded();
    if (library && lk_driver_is_ours(library))
        return library;
    if (library)
        dlclose(library);
    library = open_beside();
    if (!library)
        library = open_ours("libcuda.so.1");
    if (!library)
        *message = strdup("lockstep's own libcuda.so.1 is not beside it; build it with 'make'");
    return library;
}

/* The table from library, which may be NULL; from then on it is the process's. */
static bool choose(void *library, const char *gpu, char **message)
{
    if (!library || !lk_driver_load(&table, library, message))
        return false;
    table.gpu = strdup(gpu);
    __atomic_store_n(&chosen, table.gpu != NULL, __ATOMIC_RELEASE);
    return table.gpu != NULL;
}

static char *other_driver(const char *gpu)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s cannot be opened: this process uses %s already, and a process has %s",
                  gpu, table.gpu, table.simulated ? "one simulated machine" : "one driver");
    return text.data;
}

static bool open_by_name(const char *gpu, char **message)
{
    bool simulated = is_simulated(gpu);
    if (!check_name(gpu, message))
        return false;
    if (table.gpu && simulated == table.simulated &&
        (!simulated || strcasecmp(gpu, table.gpu) == 0))
        return true;
    if (table.gpu) {
        *message = other_driver(gpu);
        return false;
    }
    if (!simulated)
        return choose(lk_driver_find_real(message), gpu, message);
    return setenv("LOCKSTEP_GPU", gpu, 1) == 0 && choose(open_simulated(message), gpu, message);
}

static bool open_loaded(char **message)
{
    const char *asked = getenv("LOCKSTEP_GPU");
    asked = asked && *asked ? asked : NULL;
    if (asked && !check_name(asked, message))
        return false;
    const char *simulated = is_simulated(asked) ? asked : "sim:h200";
    void *library = find_loaded();
    if (library && is_simulated(asked) && !lk_driver_is_ours(library)) {
        dlclose(library);
        library = NULL;
    }
    if (library)
        return choose(library, lk_driver_is_ours(library) ? simulated : "cuda:0", message);
    if (!is_simulated(asked)) {
        if (choose(lk_driver_find_real(message), "cuda:0", message))
            return true;
        if (asked)
            return false;
        free(*message); /* no NVIDIA driver, or one without a GPU */
        *message = NULL;
    }
    return choose(open_simulated(message), simulated, message);
}

const struct lk_driver *lk_driver_open(const char *gpu, CUdevice *device, char **message)
{
    int number = 0;
    *message = NULL;
    if (!gpu && !device && __atomic_load_n(&chosen, __ATOMIC_ACQUIRE))
        return &table;
    pthread_mutex_lock(&lock);
    bool fine = gpu ? open_by_name(gpu, message) : table.gpu || open_loaded(message);
    pthread_mutex_unlock(&lock);
    if (fine && gpu && !table.simulated)
        fine = lk_driver_has_device(&table, gpu, &number, message);
    if (device)
        *device = number;
    return fine ? &table : NULL;
}

static bool describe(const struct lk_driver *driver, CUdevice number, struct lk_driver_gpu *gpu)
{
    int major, minor;
    if (driver->cuDeviceGetName(gpu->name, (int)sizeof gpu->name, number) != CUDA_SUCCESS ||
        driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                     number) != CUDA_SUCCESS ||
        driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                     number) != CUDA_SUCCESS)
        return false;
    gpu->cc_major = (unsigned)major;
    gpu->cc_minor = (unsigned)minor;
    return true;
}

unsigned lk_driver_list(struct lk_driver_gpu *gpus, unsigned most)
{
    struct lk_driver driver;
    char *message = NULL;
    int count = 0;
    unsigned listed = 0;
    void *library = lk_driver_find_real(&message);
    if (library && lk_driver_load(&driver, library, &message) && driver.cuDeviceGetCount &&
        driver.cuDeviceGetName && driver.cuDeviceGetAttribute &&
        driver.cuDeviceGetCount(&count) == CUDA_SUCCESS)
        while ((int)listed < count && listed < most &&
               describe(&driver, (CUdevice)listed, &gpus[listed]))
            listed++;
    if (library)
        dlclose(library);
    free(message);
    return listed;
}
