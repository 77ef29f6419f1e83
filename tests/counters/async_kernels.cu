/*
 * async_kernels.cu: kernels around Hopper's asynchronous units, for comparing modelled time with a
 * GPU's: bulk and tensor copies with one or more stages under way, cp.async, wgmma at several
 * shapes, clusters that read each other's shared memory. No constant of the time model was fitted
 * to them. timing.h says how it is run; sm_90a, with kernels/include.
 */
#include "timing.h"

#include "tma.h"
#include "wgmma.h"

#include <cuda.h>

enum { N = 1 << 24, SHARED = 200 << 10 }; /* floats: 64 MiB */

/* Bulk copies ------------------------------------------------------------------------------------*/

/* A block copies chunk after chunk through shared memory; one thread does it all. */
template <int STAGES> __global__ void bulk_copy(const char *from, char *to, int chunk, int count)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full[STAGES];
    if (threadIdx.x)
        return;
    for (int i = 0; i < STAGES; i++)
        barrier_make(&full[i], 1);
    barrier_made();
    int mine = (count - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    for (int turn = 0; turn < mine + STAGES - 1; turn++) {
        if (turn < mine) {
            size_t at = ((size_t)turn * gridDim.x + blockIdx.x) * chunk;
            if (turn >= STAGES) /* what was stored from there has been read */
                tma_store_wait_read<0>();
            barrier_arrive_expecting(&full[turn % STAGES], chunk);
            bulk_load(memory + turn % STAGES * chunk, from + at, chunk, &full[turn % STAGES]);
        }
        int done = turn - (STAGES - 1);
        if (done < 0)
            continue;
        size_t at = ((size_t)done * gridDim.x + blockIdx.x) * chunk;
        barrier_wait(&full[done % STAGES], done / STAGES % 2);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + at),
                     "r"(shared_address(memory + done % STAGES * chunk)), "r"(chunk)
                     : "memory");
        tma_store_commit();
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Loads by one thread, sums by all. */
template <int STAGES> __global__ void bulk_sum(const float *from, float *sums, int count)
{
    enum { CHUNK = 4096 };
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full[STAGES], empty[STAGES];
    float *stages = (float *)memory, sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&full[i], 1);
            barrier_make(&empty[i], blockDim.x - 32);
        }
        barrier_made();
    }
    __syncthreads();
    int mine = (count - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    if (threadIdx.x < 32) {
        for (int turn = 0; turn < mine && threadIdx.x == 0; turn++) {
            int at = turn % STAGES;
            barrier_wait(&empty[at], turn / STAGES % 2 ^ 1);
            barrier_arrive_expecting(&full[at], CHUNK * 4);
            bulk_load(stages + at * CHUNK, from + ((size_t)turn * gridDim.x + blockIdx.x) * CHUNK, CHUNK * 4,
                      &full[at]);
        }
        return;
    }
    for (int turn = 0; turn < mine; turn++) {
        int at = turn % STAGES;
        barrier_wait(&full[at], turn / STAGES % 2);
        for (int i = threadIdx.x - 32; i < CHUNK; i += blockDim.x - 32)
            sum += stages[at * CHUNK + i];
        barrier_arrive(&empty[at]);
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Tiles of 64 x 64 by tensor copies, each transposed on the way by nobody: in and out. */
__global__ void tile_copy(const __grid_constant__ tensor_map from, const __grid_constant__ tensor_map to,
                          int tiles)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ barrier full[4];
    if (threadIdx.x)
        return;
    for (int i = 0; i < 4; i++)
        barrier_make(&full[i], 1);
    barrier_made();
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn++) {
        int at = turn % 4;
        if (turn >= 4)
            tma_store_wait_read<3>();
        barrier_arrive_expecting(&full[at], 8192);
        tma_load(memory + at * 8192, &from, 0, tile * 64, &full[at]);
        barrier_wait(&full[at], turn / 4 % 2);
        tma_store(&to, 0, tile * 64, memory + at * 8192);
        tma_store_commit();
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Products ---------------------------------------------------------------------------------------*/

template <int WIDTH, int EACH> __global__ void products(float *out, int turns)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    for (int i = threadIdx.x; i < 16 << 10; i += blockDim.x)
        ((unsigned *)memory)[i] = 0x3f80bf00u;
    tma_fence();
    __syncthreads();
    float sums[WIDTH / 2];
    for (int i = 0; i < WIDTH / 2; i++)
        sums[i] = 0;
    unsigned from = shared_address(memory);
    for (int turn = 0; turn < turns; turn++) {
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < EACH; i++)
            wgmma_bf16<0, 0>(sums, wgmma_tile(from + i % 4 * 32, 1024, 0),
                             wgmma_tile(from + 32768 + i % 4 * 32, 1024, 0), 1);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<0>();
        wgmma_hold(sums);
    }
    float sum = 0;
    for (int i = 0; i < WIDTH / 2; i++)
        sum += sums[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Clusters ---------------------------------------------------------------------------------------*/

static __device__ __forceinline__ unsigned there(const void *at, unsigned rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(at)), "r"(rank));
    return address;
}

/* Counts of 8192 values spread over the blocks of a cluster. */
__global__ void __cluster_dims__(4, 1, 1) cluster_counts(const int *values, int *counts, int n)
{
    __shared__ int bins[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        bins[i] = 0;
    cluster_sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = (unsigned)(values[i] + i * 2654435761u) >> 19;
        asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(there(&bins[v % 2048], v / 2048))
                     : "memory");
    }
    cluster_sync();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        atomicAdd(&counts[cluster_rank() * 2048 + i], bins[i]);
}

/* Steps of a stencil on a line that the cluster's blocks share; neighbours are read across blocks. */
__global__ void __cluster_dims__(8, 1, 1) cluster_line(const float *from, float *to, int steps)
{
    __shared__ float line[2][1024];
    unsigned rank = cluster_rank(), left = (rank + 7) % 8, right = (rank + 1) % 8;
    int t = threadIdx.x, at = 0;
    line[0][t] = from[blockIdx.x * 1024 + t];
    cluster_sync();
    for (int i = 0; i < steps; i++, at ^= 1) {
        float a, b;
        asm volatile("ld.shared::cluster.f32 %0, [%1];"
                     : "=f"(a)
                     : "r"(there(&line[at][(t + 1023) % 1024], t ? rank : left)));
        asm volatile("ld.shared::cluster.f32 %0, [%1];"
                     : "=f"(b)
                     : "r"(there(&line[at][(t + 1) % 1024], t < 1023 ? rank : right)));
        line[at ^ 1][t] = 0.5f * line[at][t] + 0.25f * (a + b);
        cluster_sync();
    }
    to[blockIdx.x * 1024 + t] = line[at][t];
}

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
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", status);
        exit(1);
    }
    return map;
}

template <typename Kernel> static void allow(Kernel kernel)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED), "allow");
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    float *a = memory<float>(N), *b = memory<float>(N);
    char *from = (char *)a, *to = (char *)b;
    tensor_map map_a = map_of(a, N / 32), map_b = map_of(b, N / 32);
    allow(bulk_copy<1>), allow(bulk_copy<4>), allow(bulk_sum<2>), allow(bulk_sum<8>), allow(tile_copy);
    allow(products<256, 4>), allow(products<64, 4>), allow(products<128, 1>), allow(products<32, 8>);
    LAUNCH("bulk_copy_1_stage", (bulk_copy<1><<<132, 32, 16384>>>(from, to, 16384, 4096)));
    LAUNCH("bulk_copy_4_stages", (bulk_copy<4><<<132, 32, 65536>>>(from, to, 16384, 4096)));
    LAUNCH("bulk_copy_small", (bulk_copy<4><<<264, 32, 8192>>>(from, to, 2048, 8192)));
    LAUNCH("bulk_copy_few", (bulk_copy<4><<<16, 32, 131072>>>(from, to, 32768, 512)));
    LAUNCH("bulk_sum_2_stages", (bulk_sum<2><<<132, 288, 32768>>>(a, b, 4096)));
    LAUNCH("bulk_sum_8_stages", (bulk_sum<8><<<132, 288, 131072>>>(a, b, 4096)));
    LAUNCH("bulk_sum_8_few", (bulk_sum<8><<<32, 160, 131072>>>(a, b, 1024)));
    LAUNCH("tile_copy_132", (tile_copy<<<132, 32, 32768>>>(map_a, map_b, 4096)));
    LAUNCH("tile_copy_792", (tile_copy<<<792, 32, 32768>>>(map_a, map_b, 8192)));
    LAUNCH("products_256", (products<256, 4><<<132, 128, 98304>>>(b, 200)));
    LAUNCH("products_256_pair", (products<256, 4><<<264, 128, 98304>>>(b, 100)));
    LAUNCH("products_64", (products<64, 4><<<132, 128, 98304>>>(b, 400)));
    LAUNCH("products_64_pair", (products<64, 4><<<264, 128, 98304>>>(b, 400)));
    LAUNCH("products_128_alone", (products<128, 1><<<132, 128, 98304>>>(b, 400)));
    LAUNCH("products_32", (products<32, 8><<<132, 256, 98304>>>(b, 200)));
    LAUNCH("cluster_counts", (cluster_counts<<<128, 512>>>((int *)a, (int *)b, 1 << 22)));
    LAUNCH("cluster_line_64", (cluster_line<<<64, 1024>>>(a, b, 64)));
    LAUNCH("cluster_line_8", (cluster_line<<<128, 1024>>>(a, b, 8)));
    check(cudaDeviceSynchronize(), "end");
    return 0;
}
