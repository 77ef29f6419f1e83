/*
 * random_ptx.c: runs the random PTX programs of random_program.c.
 *   random-ptx [--gpu GPU] [--seed N] [--count N]   run them: one line "SEED DIGEST" each
 *   random-ptx --print --seed N                     show one
 *   random-ptx --compare [--seed N] [--count N]     run all on the machine in several ways
 * (instruction sets, threads, schedules); digests must agree. A program that fails is tried again
 * without optimisation (ptxas 13.0 makes code of program 95 that faults, and right code with -O0);
 * if it fails again it gives "SEED ERROR". After a failure the rest runs in a new process, because
 * a fault takes the driver's context with it.
 */
#include "cuda/driver.h"
#include "random_program.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lk_driver *open_driver(const char *gpu)
{
    char *message = NULL;
    const struct lk_driver *driver = lk_driver_open(gpu, &message);
    CUdevice device;
    CUcontext context;
    if (!driver) {
        fprintf(stderr, "%s\n", message);
        exit(2);
    }
    if (driver->cuInit(0) || driver->cuDeviceGet(&device, 0) ||
        driver->cuDevicePrimaryCtxRetain(&context, device) || driver->cuCtxSetCurrent(context)) {
        fprintf(stderr, "no device\n");
        exit(2);
    }
    return driver;
}

static CUresult run_program(const struct lk_driver *driver, const char *text, bool optimised,
                            uint64_t *digest)
{
    static uint8_t out[CELLS * 4 + GRID * BLOCK * 8];
    static uint32_t in[INPUT_WORDS];
    CUmodule module;
    CUfunction function;
    CUdeviceptr out_address, in_address;
    char log[2048] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log), NULL /* level 0 */};
    for (unsigned i = 0; i < INPUT_WORDS; i++)
        in[i] = i * 0x9e3779b1u ^ i << 7;
    CUresult result = driver->cuModuleLoadDataEx(&module, text, optimised ? 2 : 3, names, values);
    if (result) {
        fprintf(stderr, "%s\n", log);
        return result;
    }
    void *params[] = {&out_address, &in_address};
    if (!(result = driver->cuModuleGetFunction(&function, module, "program")) &&
        !(result = driver->cuMemAlloc_v2(&out_address, sizeof(out))) &&
        !(result = driver->cuMemAlloc_v2(&in_address, sizeof(in))) &&
        !(result = driver->cuMemsetD8_v2(out_address, 0, sizeof(out))) &&
        !(result = driver->cuMemcpyHtoD_v2(in_address, in, sizeof(in))) &&
        !(result =
              driver->cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL)) &&
        !(result = driver->cuCtxSynchronize()))
        result = driver->cuMemcpyDtoH_v2(out, out_address, sizeof(out));
    if (result)
        return result;
    driver->cuMemFree_v2(out_address);
    driver->cuMemFree_v2(in_address);
    driver->cuModuleUnload(module);
    *digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof(out); i++)
        *digest = (*digest ^ out[i]) * UINT64_C(0x100000001b3);
    return CUDA_SUCCESS;
}

/* Goes on in a new process, with the first program unoptimised or not. */
static int go_on(const struct lk_driver *driver, uint64_t seed, uint64_t count, bool optimised,
                 bool failed)
{
    char seed_text[24], count_text[24];
    snprintf(seed_text, sizeof(seed_text), "%llu", (unsigned long long)seed);
    snprintf(count_text, sizeof(count_text), "%llu", (unsigned long long)count);
    fflush(stdout);
    execl("/proc/self/exe", "random-ptx", "--gpu", driver->gpu, "--seed", seed_text, "--count",
          count_text, optimised ? "--optimised" : "--unoptimised",
          failed ? "--failed" : (char *)NULL, (char *)NULL);
    perror("random-ptx");
    return 1;
}

static int run_all(const char *gpu, uint64_t seed, uint64_t count, bool optimised, bool failed)
{
    if (count == 0)
        return failed;
    const struct lk_driver *driver = open_driver(gpu);
    for (uint64_t i = seed; i < seed + count; i++, optimised = true) {
        char *text = make_program(i);
        uint64_t digest = 0;
        CUresult result = run_program(driver, text, optimised, &digest);
        free(text);
        if (result) {
            const char *name = "?";
            driver->cuGetErrorName(result, &name);
            fprintf(stderr, "# program %llu%s: %s\n", (unsigned long long)i,
                    optimised ? "" : ", not optimised", name);
            if (optimised)
                return go_on(driver, i, seed + count - i, false, failed);
            printf("%llu %s\n", (unsigned long long)i, name);
            return go_on(driver, i + 1, seed + count - i - 1, true, true);
        }
        printf("%llu %016llx\n", (unsigned long long)i, (unsigned long long)digest);
    }
    return failed;
}

/* What a run of this program with an environment prints; the caller frees it. */
static char *output_of(const char *program, const char *environment, uint64_t seed, uint64_t count)
{
    char command[1024];
    snprintf(command, sizeof(command), "%s '%s' --gpu sim:h200 --seed %llu --count %llu 2>&1",
             environment, program, (unsigned long long)seed, (unsigned long long)count);
    FILE *f = popen(command, "r");
    size_t used = 0, got;
    char *text = calloc(1, 1 << 20);
    while (f && (got = fread(text + used, 1, (1 << 20) - 1 - used, f)) > 0)
        used += got;
    if (!f || pclose(f))
        snprintf(text + used, (1 << 20) - used, "failed\n");
    return text;
}

static int compare_ways(const char *program, uint64_t seed, uint64_t count)
{
    static const char *const ways[] = {
        "LOCKSTEP_THREADS=1",          "LOCKSTEP_THREADS=4", "LOCKSTEP_SCHEDULE=random:1",
        "LOCKSTEP_SCHEDULE=random:77", "LOCKSTEP_ISA=v2",    "LOCKSTEP_ISA=v3"};
    char *first = output_of(program, "", seed, count);
    bool good = !strstr(first, "failed\n");
    printf("%s random/runs%s%s%s\n", good ? "ok" : "not ok", good ? "" : " (", good ? "" : first,
           good ? "" : ")");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        char *other = output_of(program, ways[i], seed, count);
        size_t at = 0, line = 0;
        while (first[at] && first[at] == other[at])
            line = first[at++] == '\n' ? at : line;
        bool same = first[at] == other[at];
        printf("%s random/%s", same ? "ok" : "not ok", ways[i]);
        if (!same)
            printf(" (expected \"%.*s\", got \"%.*s\")", (int)strcspn(first + line, "\n"),
                   first + line, (int)strcspn(other + line, "\n"), other + line);
        putchar('\n');
        good &= same;
        free(other);
    }
    free(first);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *gpu = NULL;
    uint64_t seed = 1, count = 10;
    bool print = false, compare = false, optimised = true, failed = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--print")) {
            print = true;
        } else if (!strcmp(argv[i], "--compare")) {
            compare = true;
        } else if (!strcmp(argv[i], "--failed")) {
            failed = true;
        } else if (!strcmp(argv[i], "--optimised") || !strcmp(argv[i], "--unoptimised")) {
            optimised = argv[i][2] == 'o';
        } else if (i + 1 < argc && !strcmp(argv[i], "--gpu")) {
            gpu = argv[++i];
        } else if (i + 1 < argc && !strcmp(argv[i], "--seed")) {
            seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && !strcmp(argv[i], "--count")) {
            count = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: random-ptx [--gpu GPU] [--seed N] [--count N] [--print] "
                            "[--compare]\n");
            return 2;
        }
    }
    if (print) {
        char *text = make_program(seed);
        fputs(text, stdout);
        free(text);
        return 0;
    }
    return compare ? compare_ways(argv[0], seed, count)
                   : run_all(gpu, seed, count, optimised, failed);
}
