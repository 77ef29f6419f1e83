/*
 * units.cu: rates and latencies of Hopper's units, which src/watch/units.c takes its constants from:
 * wgmma, mma.sync, bulk and tensor copies, mbarriers, clusters, the power limit. Prints a line for
 * each: what it is, and cycles (or what the line says). For a GPU:
 *   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I kernels/include tests/timing/units.cu
 * On the machine it prints what the machine's own clocks make of it.
 */
#include "tma.h"
#include "wgmma.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <ctime>

enum { BIG = 64 << 20, SHARED = 200 << 10 };

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static long long *out; /* managed: what kernels found */

static __device__ __forceinline__ long long now(void)
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

__global__ void fill(unsigned *at, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        at[i] = 0x3f80bf00u ^ ((i * 2654435761u ^ i >> 7) & 0x80ff80ffu);
}

/* wgmma ----------------------------------------------------------------------------------------*/

/* Cycles for `turns` groups of `EACH` products. 128 threads are one warpgroup. */
template <int N, int EACH, int LEFT> __global__ void wide(long long *out, int turns)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    for (int i = threadIdx.x; i < 48 << 10; i += blockDim.x)
        ((unsigned *)memory)[i] = 0x3f80bf00u ^ (i * 2654435761u & 0x80ff80ffu);
    tma_fence();
    __syncthreads();
    float sums[N / 2];
    for (int i = 0; i < N / 2; i++)
        sums[i] = 0;
    unsigned from = shared_address(memory), group = threadIdx.x / 128;
    long long begin = now();
    for (int turn = 0; turn < turns; turn++) {
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < EACH; i++)
            wgmma_bf16<0, 0>(sums, wgmma_tile(from + group * 8192 + i % 4 * 32, 1024, 0),
                             wgmma_tile(from + 32768 + i % 4 * 32, 1024, 0), 1);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<LEFT>();
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    long long end = now();
    float sum = 0;
    for (int i = 0; i < N / 2; i++)
        sum += sums[i];
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[0] = end - begin;
    if (sum == 12345.678f)
        out[1] = 1;
}

template <int N> static void wide_lines(void)
{
    enum { TURNS = 64 };
    check(cudaFuncSetAttribute(wide<N, 4, 0>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED), "wide");
    check(cudaFuncSetAttribute(wide<N, 4, 1>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED), "wide");
    check(cudaFuncSetAttribute(wide<N, 1, 0>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED), "wide");
    for (int threads = 128; threads <= 256; threads *= 2) {
        wide<N, 4, 1><<<1, threads, SHARED>>>(out, TURNS);
        check(cudaDeviceSynchronize(), "wide");
        printf("wgmma m64n%dk16, %d warpgroups, each\t%.1f\n", N, threads / 128,
               out[0] / (TURNS * 4.0 * threads / 128));
    }
    wide<N, 4, 0><<<1, 128, SHARED>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "wide");
    printf("four wgmma m64n%dk16 and a wait\t%.1f\n", N, out[0] / (double)TURNS);
    wide<N, 1, 0><<<1, 128, SHARED>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "wide");
    printf("one wgmma m64n%dk16 and a wait\t%.1f\n", N, out[0] / (double)TURNS);
}

/* mma.sync -------------------------------------------------------------------------------------*/

enum kind { BF16, TF32, S8, F8 };

template <kind KIND> static __device__ __forceinline__ void product(float (&d)[4], unsigned a, unsigned b)
{
    int *i = (int *)d;
    if (KIND == BF16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
                     "{%5,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));
    else if (KIND == TF32)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
                     "{%5,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));
    else if (KIND == F8)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
                     "{%5,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));
    else
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
                     "{%5,%5}, {%0,%1,%2,%3};"
                     : "+r"(i[0]), "+r"(i[1]), "+r"(i[2]), "+r"(i[3]) : "r"(a), "r"(b));
}

template <kind KIND, int SUMS> __global__ void narrow(long long *out, int turns)
{
    float d[SUMS][4] = {};
    unsigned a = 0x3f803f80u + threadIdx.x, b = 0x3f003f00u + threadIdx.x;
    __syncthreads();
    long long begin = now();
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            product<KIND>(d[i], a, b);
    __syncthreads();
    long long end = now();
    float sum = 0;
    for (int i = 0; i < SUMS; i++)
        sum += d[i][0] + d[i][3];
    if (threadIdx.x == 0)
        out[0] = end - begin;
    if (sum == 12345.678f)
        out[1] = 1;
}

template <kind KIND> static void narrow_lines(const char *name)
{
    for (int warps = 4; warps <= 16; warps *= 2) {
        narrow<KIND, 8><<<1, warps * 32>>>(out, 64);
        check(cudaDeviceSynchronize(), name);
        printf("mma.sync %s, %d warps, each of a tensor core\t%.2f\n", name, warps,
               out[0] / (64 * 8.0 * warps / 4));
    }
    narrow<KIND, 1><<<1, 32>>>(out, 512);
    check(cudaDeviceSynchronize(), name);
    printf("mma.sync %s after another\t%.1f\n", name, out[0] / 512.0);
}

/* Bulk copies ----------------------------------------------------------------------------------*/

/* One copy after the other, from issue to the end of the wait. */
__global__ void bulk_latency(long long *out, const char *from, int bytes, int turns, size_t stride)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full;
    if (threadIdx.x)
        return;
    barrier_make(&full, 1);
    barrier_made();
    long long begin = now();
    for (int turn = 0; turn < turns; turn++) {
        barrier_arrive_expecting(&full, bytes);
        bulk_load(memory, from + turn * stride, bytes, &full);
        barrier_wait(&full, turn % 2);
    }
    out[0] = now() - begin;
}

__global__ void tensor_latency(long long *out, const __grid_constant__ tensor_map map, int bytes,
                               int turns)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full;
    if (threadIdx.x)
        return;
    barrier_make(&full, 1);
    barrier_made();
    tma_prefetch_map(&map);
    long long begin = 0;
    for (int turn = 0; turn < turns + 2; turn++) {
        if (turn == 2)
            begin = now();
        barrier_arrive_expecting(&full, bytes);
        tma_load(memory, &map, 0, 64 * (turn % 64), &full);
        barrier_wait(&full, turn % 2);
    }
    out[0] = now() - begin;
}

/* Boxes of 64 x 64 elements, `STAGES` of `EACH` under way. */
template <int STAGES, int EACH, bool MULTICAST>
__global__ void tensor_stream(long long *out, const __grid_constant__ tensor_map map, int turns, int rows)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++)
            barrier_make(&full[i], 1);
        barrier_made();
    }
    __syncthreads();
    if (MULTICAST)
        cluster_sync();
    unsigned rank = MULTICAST ? cluster_rank() : 0;
    unsigned block = MULTICAST ? blockIdx.x / 2 : blockIdx.x;
    long long begin = now();
    if (threadIdx.x == 0) {
        for (int turn = 0; turn < turns + STAGES; turn++) {
            int at = turn % STAGES;
            if (turn >= STAGES)
                barrier_wait(&full[at], (turn / STAGES - 1) % 2);
            if (turn >= turns)
                continue;
            barrier_arrive_expecting(&full[at], EACH * 8192);
            for (int i = 0; i < EACH; i++) {
                int row = (int)(((size_t)(block * 9973 + turn) * EACH + i) * 64 % rows);
                unsigned char *to = memory + (at * EACH + i) * 8192;
                if (!MULTICAST)
                    tma_load(to, &map, 0, row, &full[at]);
                else if (i % 2 == (int)rank)
                    tma_load_multicast(to, &map, 0, row, &full[at], 3);
            }
        }
        out[blockIdx.x] = now() - begin;
    }
    if (MULTICAST)
        cluster_sync();
}

__global__ void tensor_stores(long long *out, const __grid_constant__ tensor_map map, int turns, int rows)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    long long begin = now();
    if (threadIdx.x == 0) {
        for (int turn = 0; turn < turns; turn++) {
            tma_store(&map, 0, (blockIdx.x * 97 + turn) * 64 % rows, memory + turn % 16 * 8192);
            tma_store_commit();
            tma_store_wait_read<3>();
        }
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        out[blockIdx.x] = now() - begin;
    }
}

/* Plain loads of 16 bytes, for comparison. */
__global__ void plain_stream(long long *out, const uint4 *from, int turns, int mask)
{
    unsigned sum = 0;
    long long begin = now();
    for (int turn = 0; turn < turns; turn++) {
        uint4 v[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w)
                         : "l"(from + ((blockIdx.x * 97 + turn * 8 + i) * blockDim.x + threadIdx.x & mask)));
#pragma unroll
        for (int i = 0; i < 8; i++)
            sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = now() - begin;
    if (sum == 0x12345678)
        out[gridDim.x] = 1;
}

/* Stores as a product's sums make them: a warp writes 16 bytes of each of 8 rows. */
__global__ void piece_stores(long long *out, unsigned *to, int turns)
{
    unsigned *at = to + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) % 2048 * 8192;
    at += threadIdx.x % 32 / 4 * 1024 + threadIdx.x % 4;
    __syncthreads();
    long long begin = now();
    for (int turn = 0; turn < turns; turn++)
        at[turn % 256 * 4] = turn;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = now() - begin;
}

#include "units_barriers.h"

/* The host's side ------------------------------------------------------------------------------*/

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

static tensor_map map_of(void *at, int rows) /* [rows][64] of 16 bits, boxes of 64 rows */
{
    void *entry = NULL;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
          "cuTensorMapEncodeTiled");
    tensor_map map;
    cuuint64_t sizes[2] = {64, (cuuint64_t)rows}, stride = 128;
    cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
    CUresult status = ((encode_tiled *)entry)(
        (CUtensorMap *)&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, at, sizes, &stride, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        printf("cuTensorMapEncodeTiled: %d\n", status), exit(1);
    return map;
}

static double slowest(int blocks)
{
    long long most = 0;
    for (int i = 0; i < blocks; i++)
        most = out[i] > most ? out[i] : most;
    return (double)most;
}

template <typename Kernel> static void allow(Kernel kernel)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED), "allow");
}

static void bulk_lines(char *big, int sms)
{
    allow(bulk_latency);
    static const int sizes[] = {16, 128, 1024, 4096, 16384};
    for (int warm = 0; warm < 2; warm++)
        for (int bytes : sizes) {
            size_t stride = 65536;
            char *from = big + (warm ? 0 : (size_t)(bytes % 9973) * 256);
            for (int i = 0; i <= warm; i++)
                bulk_latency<<<1, 32, SHARED>>>(out, from, bytes, 64, stride);
            check(cudaDeviceSynchronize(), "bulk");
            printf("cp.async.bulk of %d bytes, %s\t%.0f\n", bytes, warm ? "from the L2" : "cold", out[0] / 64.0);
        }
    int rows = (16 << 20) / 128;
    tensor_map map = map_of(big, rows);
    allow(tensor_latency);
    for (int i = 0; i < 2; i++)
        tensor_latency<<<1, 32, SHARED>>>(out, map, 8192, 62);
    check(cudaDeviceSynchronize(), "tensor");
    printf("tensor copy of 64 x 64 x 2 bytes, from the L2\t%.0f\n", out[0] / 62.0);
    allow(tensor_stream<4, 4, false>);
    allow(tensor_stream<4, 4, true>);
    allow(tensor_stores);
    for (int blocks : {1, sms / 4, sms}) {
        for (int i = 0; i < 2; i++)
            tensor_stream<4, 4, false><<<blocks, 32, SHARED>>>(out, map, 128, rows);
        check(cudaDeviceSynchronize(), "stream");
        printf("tensor copies from the L2, %d SMs, bytes a cycle and SM\t%.1f\n", blocks,
               128 * 4 * 8192.0 / slowest(blocks));
        for (int i = 0; i < 2; i++)
            tensor_stores<<<blocks, 32, SHARED>>>(out, map, 256, rows);
        check(cudaDeviceSynchronize(), "stores");
        printf("tensor stores to the L2, %d SMs, bytes a cycle and SM\t%.1f\n", blocks,
               256 * 8192.0 / slowest(blocks));
        for (int i = 0; i < 2; i++)
            plain_stream<<<blocks, 1024>>>(out, (uint4 *)big, 16, (1 << 20) - 1);
        check(cudaDeviceSynchronize(), "plain");
        printf("plain loads from the L2, %d SMs, bytes a cycle and SM\t%.1f\n", blocks,
               16 * 8 * 1024 * 16.0 / slowest(blocks));
    }
    for (int blocks : {1, sms / 4, sms}) {
        for (int i = 0; i < 2; i++)
            piece_stores<<<blocks, 256>>>(out, (unsigned *)big, 512);
        check(cudaDeviceSynchronize(), "pieces");
        printf("stores of 8 pieces of 16 bytes, %d SMs, cycles of an SM each\t%.1f\n", blocks,
               slowest(blocks) / (512.0 * 8));
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = SHARED;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int blocks : {2, sms}) {
        config.gridDim = dim3(blocks);
        for (int i = 0; i < 2; i++)
            check(cudaLaunchKernelEx(&config, tensor_stream<4, 4, true>, out, map, 128, rows), "multicast");
        check(cudaDeviceSynchronize(), "multicast");
        printf("the same, multicast to two, %d SMs\t%.1f\n", blocks, 128 * 4 * 8192.0 / slowest(blocks));
    }
    for (int size = 2; size <= 16; size *= 2) {
        int count = 0;
        attribute.val.clusterDim.x = size;
        config.gridDim = dim3(size * 64);
        cudaFuncSetAttribute(tensor_stream<4, 4, true>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        cudaOccupancyMaxActiveClusters(&count, tensor_stream<4, 4, true>, &config);
        printf("clusters of %d at a time\t%d\n", size, count);
    }
}

template <int WHAT> static void remote_line(const char *name)
{
    enum { TURNS = 256 };
    for (int scattered = 0; scattered < 2; scattered++) {
        remote_words<WHAT><<<2, 1024>>>(out, TURNS, scattered);
        check(cudaDeviceSynchronize(), "remote words");
        printf("%s another block's memory, %s, cycles a warp\t%.1f\n", name,
               scattered ? "lanes anywhere" : "lanes side by side", out[0] / (32.0 * TURNS));
    }
}

static void barrier_lines(void)
{
    enum { TURNS = 256 };
    for (int threads : {128, 256, 1024}) {
        block_barrier<<<1, threads>>>(out, TURNS);
        check(cudaDeviceSynchronize(), "barrier");
        printf("barrier of %d threads\t%.1f\n", threads, out[0] / (double)TURNS);
    }
    ping_pong<<<1, 64>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "ping");
    printf("mbarrier, from arrival to the other warp's\t%.1f\n", out[0] / (2.0 * TURNS));
    cluster_ping_pong<<<2, 32>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "ping");
    printf("mbarrier in another block, the same\t%.1f\n", out[0] / (2.0 * TURNS));
    cluster_barrier<<<2, 128>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "cluster");
    printf("barrier of a cluster\t%.1f\n", out[0] / (double)TURNS);
    remote_loads<<<2, 32>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "remote");
    printf("load from another block, after another\t%.1f\n", out[0] / (double)TURNS);
    remote_loads<<<2, 1024>>>(out, TURNS);
    check(cudaDeviceSynchronize(), "remote");
    printf("loads from another block, bytes a cycle\t%.1f\n", TURNS * 1024 * 4.0 / out[1]);
    remote_line<REMOTE_LOAD>("loads from");
    remote_line<REMOTE_STORE>("stores to");
    remote_line<REMOTE_ADD>("atomics on");
}

/* Work for seconds, again and again: what is left of the clock, and when it began and ended, so that
 * the power that nvidia-smi reports beside it can be told apart. */
template <typename Launch>
static void power_line(const char *name, const char *unit, double work, double seconds, Launch launch)
{
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    float total = 0, milliseconds = 0;
    struct timespec begin, end;
    clock_gettime(CLOCK_REALTIME, &begin);
    while (total < seconds * 1000) {
        cudaEventRecord(from);
        launch();
        cudaEventRecord(to);
        check(cudaEventSynchronize(to), name);
        cudaEventElapsedTime(&milliseconds, from, to);
        total += milliseconds;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    printf("%s, all SMs for seconds: %s\t%.0f\n", name, unit, work / milliseconds / 1e9);
    printf("%s: its clock, MHz\t%.0f\n", name, out[0] / (milliseconds * 1e3));
    printf("%s: from and to, s\t%ld.%03ld %ld.%03ld\n", name, (long)begin.tv_sec, begin.tv_nsec / 1000000,
           (long)end.tv_sec, end.tv_nsec / 1000000);
    fflush(stdout);
}

__global__ void idle(long long *out, int turns)
{
    long long begin = now();
    for (int i = 0; i < turns; i++)
        __nanosleep(1000);
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[0] = now() - begin;
}

static void power_lines(int sms, double seconds)
{
    enum { TURNS = 20000 };
    char *large;
    int rows = (16 << 20) / 128, many = (1 << 30) / 128;
    check(cudaMalloc(&large, 1u << 30), "memory");
    fill<<<1024, 1024>>>((unsigned *)large, 1 << 28);
    tensor_map near = map_of(large, rows), far = map_of(large, many);
    power_line("waiting", "", 0, seconds, [&] { idle<<<sms, 32>>>(out, TURNS); });
    power_line("wgmma", "TFLOP/s", 2.0 * 64 * 256 * 16 * 4 * TURNS * 2 * sms, seconds,
               [&] { wide<256, 4, 1><<<sms, 256, SHARED>>>(out, TURNS); });
    power_line("mma.sync", "TFLOP/s", 2.0 * 16 * 8 * 16 * 8 * TURNS * 16 * sms, seconds,
               [&] { narrow<BF16, 8><<<sms, 512>>>(out, TURNS); });
    power_line("copies from the L2", "GB/s / 1000", 8192.0 * 4 * TURNS * sms, seconds,
               [&] { tensor_stream<4, 4, false><<<sms, 32, SHARED>>>(out, near, TURNS, rows); });
    power_line("copies from DRAM", "GB/s / 1000", 8192.0 * 4 * TURNS * sms, seconds,
               [&] { tensor_stream<4, 4, false><<<sms, 32, SHARED>>>(out, far, TURNS, many); });
}

int main(int argc, char **argv)
{
    int sms = 0;
    char *big;
    check(cudaMallocManaged(&out, 4096 * sizeof(*out)), "memory");
    check(cudaMalloc(&big, BIG), "memory");
    check(cudaMemset(big, 0, BIG), "memory");
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    wide_lines<8>();
    wide_lines<32>();
    wide_lines<64>();
    wide_lines<128>();
    wide_lines<256>();
    narrow_lines<BF16>("m16n8k16 bf16");
    narrow_lines<TF32>("m16n8k8 tf32");
    narrow_lines<S8>("m16n8k32 s8");
    narrow_lines<F8>("m16n8k32 e4m3");
    bulk_lines(big, sms);
    barrier_lines();
    if (argc > 1) /* seconds for each */
        power_lines(sms, atof(argv[1]));
    return 0;
}
