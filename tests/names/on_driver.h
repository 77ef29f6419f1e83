/*
 * on_driver.h: what run_ptx.c and run_math.c share. They are linked with the simulated driver; the
 * few calls are declared here.
 */
#ifndef LOCKSTEP_TESTS_NAMES_ON_DRIVER_H
#define LOCKSTEP_TESTS_NAMES_ON_DRIVER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 4 << 20 };

typedef int result;
typedef uint64_t address;
typedef struct module *module;
typedef struct function *function;
result cuInit(unsigned);
result cuDeviceGet(int *, int);
result cuDevicePrimaryCtxRetain(void **, int);
result cuCtxSetCurrent(void *);
result cuCtxSynchronize(void);
result cuMemAlloc_v2(address *, size_t);
result cuMemcpyHtoD_v2(address, const void *, size_t);
result cuMemcpyDtoH_v2(void *, address, size_t);
result cuModuleLoadData(module *, const void *);
result cuModuleGetFunction(function *, module, const char *);
result cuLaunchKernel(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, void *, void **, void **);

static void must(result got, const char *what)
{
    if (got == 0)
        return;
    printf("not ok names (%s: error %d)\n", what, got);
    exit(1);
}
#define MUST(call) must(call, #call)

static void start_driver(void)
{
    void *context;
    int device;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
}

/* The file's text; it ends with a zero. */
static char *read_file(const char *path)
{
    char *text = calloc(1, MOST_TEXT);
    FILE *file = fopen(path, "r");
    if (!text || !file || fread(text, 1, MOST_TEXT - 1, file) == 0) {
        printf("not ok names (%s cannot be read)\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

#endif
