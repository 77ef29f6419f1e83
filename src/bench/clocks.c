/*
 * clocks.c: the GPU's clock through NVML, where it is, and the CPU's.
 */
#include "bench/contest.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum { NVML_CLOCK_SM = 1 };

struct bench_clocks {
    void *library, *device;
    int (*get)(void *device, int type, unsigned *mhz);
    int (*shutdown)(void);
    char driver[80];
};

struct bench_clocks *bench_clocks_open(const struct zoo_device *device)
{
    char bus[32] = "";
    struct bench_clocks clocks = {0};
    if (device->cuda->simulated || !device->cuda->cuDeviceGetPCIBusId ||
        device->cuda->cuDeviceGetPCIBusId(bus, sizeof bus, device->device) != CUDA_SUCCESS ||
        !(clocks.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)))
        return NULL;
    int (*init)(void) = (int (*)(void))dlsym(clocks.library, "nvmlInit_v2");
    int (*find)(const char *, void **) =
        (int (*)(const char *, void **))dlsym(clocks.library, "nvmlDeviceGetHandleByPciBusId_v2");
    int (*version)(char *, unsigned) =
        (int (*)(char *, unsigned))dlsym(clocks.library, "nvmlSystemGetDriverVersion");
    clocks.get = (int (*)(void *, int, unsigned *))dlsym(clocks.library, "nvmlDeviceGetClockInfo");
    clocks.shutdown = (int (*)(void))dlsym(clocks.library, "nvmlShutdown");
    if (!init || !find || !clocks.get || !clocks.shutdown || init() != 0) {
        dlclose(clocks.library);
        return NULL;
    }
    if (find(bus, &clocks.device) != 0) {
        clocks.shutdown();
        dlclose(clocks.library);
        return NULL;
    }
    if (!version || version(clocks.driver, sizeof clocks.driver) != 0)
        clocks.driver[0] = 0;
    struct bench_clocks *result = lk_alloc(sizeof *result);
    *result = clocks;
    return result;
}

void bench_clocks_close(struct bench_clocks *clocks)
{
    if (!clocks)
        return;
    clocks->shutdown();
    dlclose(clocks->library);
    free(clocks);
}

unsigned bench_clocks_read(struct bench_clocks *clocks)
{
    unsigned mhz = 0;
    return clocks && clocks->get(clocks->device, NVML_CLOCK_SM, &mhz) == 0 ? mhz : 0;
}

const char *bench_clocks_driver(struct bench_clocks *clocks)
{
    return clocks ? clocks->driver : "";
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
