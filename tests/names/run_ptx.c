/*
 * run_ptx.c: runs every kernel of two PTX files with the same input and compares what they stored.
 *   run_ptx NVCC.ptx CLANG.ptx      prints "ok KERNEL" or "not ok KERNEL (first difference)"
 * names.cu declares the structure of the input and what a kernel is given.
 */
#include "on_driver.h"

#include <inttypes.h>
#include <stdbool.h>

enum { THREADS = 64, BLOCKS = 2, ALL = THREADS * BLOCKS, RESULTS = 512 };

struct values {
    int32_t i, j, k, n;
    uint32_t u, v, w, lane;
    int64_t l, m;
    uint64_t ul, um;
    float f, g, h, positive;
    double d, e, c, root;
};

static address input, output;

static float number(float most)
{
    float size = (float)(drand48() * (double)most) + 0.001f;
    return lrand48() & 1 ? size : -size;
}

static uint32_t bits(void)
{
    return (uint32_t)mrand48();
}

static uint64_t wide(void)
{
    return (uint64_t)bits() << 32 | bits();
}

static void make_input(void)
{
    struct values all[ALL];
    srand48(7);
    for (unsigned n = 0; n < ALL; n++)
        all[n] = (struct values){.i = (int32_t)bits(),
                                 .j = (int32_t)bits(),
                                 .k = (int32_t)bits(),
                                 .n = (int32_t)bits(),
                                 .u = bits(),
                                 .v = bits(),
                                 .w = bits(),
                                 .lane = n % 32,
                                 .l = (int64_t)wide(),
                                 .m = (int64_t)wide(),
                                 .ul = wide(),
                                 .um = wide(),
                                 .f = number(20),
                                 .g = number(5),
                                 .h = number(100),
                                 .positive = number(1) * number(1) + 2,
                                 .d = number(1000),
                                 .e = number(7) / 3.0,
                                 .c = number(1) / 7.0,
                                 .root = drand48() * 100};
    MUST(cuMemAlloc_v2(&input, sizeof all));
    MUST(cuMemcpyHtoD_v2(input, all, sizeof all));
    MUST(cuMemAlloc_v2(&output, (size_t)ALL * RESULTS * 8));
}

static uint64_t *run(module from, const char *name)
{
    size_t size = (size_t)ALL * RESULTS * 8;
    uint64_t *results = malloc(size);
    function kernel;
    memset(results, 0xee, size);
    MUST(cuMemcpyHtoD_v2(output, results, size));
    MUST(cuModuleGetFunction(&kernel, from, name));
    MUST(cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&input, &output},
                        NULL));
    must(cuCtxSynchronize(), name);
    MUST(cuMemcpyDtoH_v2(results, output, size));
    return results;
}

/* Untouched results are equal too, so a kernel that stores nothing is not taken as right. */
static bool compare(module nvcc, module clang, const char *name)
{
    uint64_t *wanted = run(nvcc, name), *got = run(clang, name);
    size_t stored = 0, n = 0, count = (size_t)ALL * RESULTS;
    while (n < count && wanted[n] == got[n])
        stored += wanted[n++] != 0xeeeeeeeeeeeeeeee;
    bool same = n == count && stored > 0;
    if (same)
        printf("ok names %s\n", name);
    else if (n == count)
        printf("not ok names %s (nothing was stored)\n", name);
    else
        printf("not ok names %s (thread %zu, result %zu: nvcc %016" PRIx64 ", clang %016" PRIx64
               ")\n",
               name, n / RESULTS, n % RESULTS, wanted[n], got[n]);
    free(wanted);
    free(got);
    return same;
}

int main(int argc, char **argv)
{
    static const char entry[] = ".visible .entry ";
    module nvcc, clang;
    int wrong = 0;
    if (argc != 3)
        return 2;
    start_driver();
    char *ptx = read_file(argv[1]), *other = read_file(argv[2]);
    MUST(cuModuleLoadData(&nvcc, ptx));
    MUST(cuModuleLoadData(&clang, other));
    make_input();
    for (char *at = ptx; (at = strstr(at, entry)); at++) {
        char name[64] = "";
        sscanf(at + strlen(entry), "%63[a-z_0-9]", name);
        wrong += !compare(nvcc, clang, name);
    }
    free(ptx);
    free(other);
    return wrong > 0;
}
