/*
 * parts.c: times kernels of kernels/gemm that bench/parts/run.sh has built with other tiles, or
 * with parts left out, so that results may be wrong: they are not looked at. For each line of the
 * list, NAME FILE.cubin KIND BM BN STAGES it prints the kernel's registers, its blocks on an SM and
 * its time. KIND says how it is launched: mma_sync, tma, overlapped; a name that ends in "zeros"
 * gets matrices of zeros. parts LIST SIZE
 */
#include <cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 3, ROUNDS = 5, LAUNCHES = 10, BK = 64 };

static void must(CUresult status, const char *what)
{
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "parts: %s: error %d\n", what, (int)status);
        exit(1);
    }
}

struct kernel {
    char name[64], file[256], kind[32];
    int bm, bn, stages;
    CUfunction function;
    unsigned grid_x, grid_y, threads, shared, cluster;
    double best;
};

static int size, sms;
static CUdeviceptr a[COPIES], b[COPIES], c[COPIES], zeros;

static CUtensorMap map_of(CUdeviceptr at, int box_rows)
{
    CUtensorMap map;
    cuuint64_t sizes[2] = {(cuuint64_t)size, (cuuint64_t)size}, pitch[1] = {(cuuint64_t)size * 2};
    cuuint32_t box[2] = {64, (cuuint32_t)box_rows}, one[2] = {1, 1};
    must(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)at,
                                sizes, pitch, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "cuTensorMapEncodeTiled");
    return map;
}

static void load(struct kernel *k)
{
    CUmodule module;
    int is_mma = strcmp(k->kind, "mma_sync") == 0, is_tma = strcmp(k->kind, "tma") == 0;
    must(cuModuleLoad(&module, k->file), k->file);
    must(cuModuleGetFunction(&k->function, module, is_mma ? "gemm_wide_bf16" : "gemm"), "kernel");
    unsigned down = (unsigned)((size + k->bm - 1) / k->bm);
    unsigned across = (unsigned)((size + k->bn - 1) / k->bn);
    k->shared = (unsigned)(k->stages * (k->bm + k->bn) * BK * 2);
    k->cluster = 1;
    k->grid_x = down;
    k->grid_y = across;
    k->threads = is_mma ? (unsigned)(k->bm / 64 * (k->bn / 32) * 32) : 256;
    if (!is_mma)
        k->shared += 1024;
    if (!is_mma && !is_tma) { /* persistent pairs of blocks; boxes on their way out */
        k->shared += 4 * 64 * 64 * 2;
        k->cluster = 2;
        k->threads = 384;
        k->grid_x = down * across < (unsigned)sms ? down * across : (unsigned)(sms / 2 * 2);
        k->grid_y = 1;
    }
    must(cuFuncSetAttribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                            (int)k->shared),
         "shared memory");
}

static void launch(const struct kernel *k, int copy)
{
    int is_mma = strcmp(k->kind, "mma_sync") == 0, is_tma = strcmp(k->kind, "tma") == 0;
    size_t length = strlen(k->name);
    int of_zeros = length > 5 && strcmp(k->name + length - 5, "zeros") == 0;
    CUdeviceptr from_a = of_zeros ? zeros : a[copy], from_b = of_zeros ? zeros : b[copy];
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {k->cluster, 1, 1}};
    CUlaunchConfig config = {.gridDimX = k->grid_x,
                             .gridDimY = k->grid_y,
                             .gridDimZ = 1,
                             .blockDimX = k->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = k->shared,
                             .attrs = &cluster,
                             .numAttrs = k->cluster > 1};
    if (is_mma) {
        void *arguments[] = {&from_a, &from_b, &c[copy], &size, &size, &size};
        must(cuLaunchKernelEx(&config, k->function, arguments, NULL), k->name);
        return;
    }
    CUtensorMap of_a = map_of(from_a, k->bm), of_b = map_of(from_b, BK), of_c = map_of(c[copy], 64);
    void *with_pointer[] = {&of_a, &of_b, &c[copy], &size, &size, &size};
    void *with_map[] = {&of_a, &of_b, &of_c, &size, &size, &size};
    must(cuLaunchKernelEx(&config, k->function, is_tma ? with_pointer : with_map, NULL), k->name);
}

/* The mean of some launches, over rotating matrices. */
static double time_once(const struct kernel *k)
{
    CUevent from, to;
    float ms;
    must(cuEventCreate(&from, 0), "event");
    must(cuEventCreate(&to, 0), "event");
    launch(k, 0);
    must(cuEventRecord(from, NULL), "event");
    for (int i = 0; i < LAUNCHES; i++)
        launch(k, i % COPIES);
    must(cuEventRecord(to, NULL), "event");
    must(cuEventSynchronize(to), k->name);
    must(cuEventElapsedTime(&ms, from, to), "event");
    cuEventDestroy(from);
    cuEventDestroy(to);
    return (double)ms * 1e3 / LAUNCHES;
}

static CUdeviceptr matrix(uint64_t seed)
{
    size_t count = (size_t)size * (size_t)size;
    uint16_t *host = calloc(count, sizeof *host);
    CUdeviceptr at;
    if (!host)
        exit(1);
    for (size_t i = 0; seed && i < count; i++) { /* from -1 to 1 */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        float x = (float)(int32_t)(seed >> 32) * 0x1p-31F;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        host[i] = (uint16_t)(bits >> 16);
    }
    must(cuMemAlloc(&at, count * 2), "memory");
    must(cuMemcpyHtoD(at, host, count * 2), "copy");
    free(host);
    return at;
}

int main(int argc, char **argv)
{
    static struct kernel kernels[64];
    int count = 0;
    CUdevice device;
    CUcontext context;
    FILE *list = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!list) {
        fprintf(stderr, "usage: parts LIST SIZE\n");
        return 2;
    }
    size = (int)strtol(argv[2], NULL, 10);
    if (size < 128 || size % 128) {
        fprintf(stderr, "parts: SIZE '%s' is not a multiple of 128\n", argv[2]);
        return 2;
    }
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "device");
    must(cuDevicePrimaryCtxRetain(&context, device), "context");
    must(cuCtxSetCurrent(context), "context");
    must(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "SMs");
    for (int i = 0; i < COPIES; i++) {
        a[i] = matrix((uint64_t)i + 1);
        b[i] = matrix((uint64_t)i + 11);
        c[i] = matrix(0);
    }
    zeros = matrix(0);
    for (struct kernel *k = kernels;
         count < 64 && fscanf(list, "%63s %255s %31s %d %d %d", k->name, k->file, k->kind, &k->bm,
                              &k->bn, &k->stages) == 6;
         k++, count++) {
        load(k);
        k->best = time_once(k);
    }
    fclose(list);
    for (int round = 0; round < ROUNDS; round++) /* in turn, so that all have the same weather */
        for (int i = 0; i < count; i++) {
            double us = time_once(&kernels[i]);
            kernels[i].best = us < kernels[i].best ? us : kernels[i].best;
        }
    printf("%-28s %9s %7s %6s %9s %8s\n", "kernel", "registers", "blocks", "warps", "us",
           "TFLOP/s");
    for (int i = 0; i < count; i++) {
        struct kernel *k = &kernels[i];
        int registers, blocks;
        must(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, k->function), "registers");
        must(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k->function, (int)k->threads,
                                                         k->shared),
             "occupancy");
        printf("%-28s %9d %7d %6d %9.1f %8.0f\n", k->name, registers, blocks,
               blocks * (int)k->threads / 32, k->best, 2.0 * size * size * size / k->best * 1e-6);
    }
    return 0;
}
