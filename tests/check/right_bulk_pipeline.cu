// right_bulk_pipeline.cu: a producer loads tiles of a tensor into a ring of buffers, consumers work on
// them and say when a buffer is free, and results are stored from two buffers in turn: nothing is
// wrong here. With 3 stages, and with more stages than the checker has names for.
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

enum { TILE = 256, TILES = 40, WORKERS = 64 };

__device__ void wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile("{\n.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n}" ::AT(barrier),
                 "r"(parity)
                 : "memory");
}

template <int STAGES>
__global__ void pipeline(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tiles[STAGES][TILE];
    __shared__ __align__(128) int results[2][TILE];
    __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full[i]) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::AT(&empty[i]), "r"(WORKERS)
                         : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= WORKERS) { // the producer's warp
        if (threadIdx.x == WORKERS)
            for (int i = 0; i < TILES; i++) {
                int stage = i % STAGES;
                if (i >= STAGES)
                    wait(&empty[stage], i / STAGES - 1 & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::AT(
                                 &full[stage]),
                             "r"((int)sizeof tiles[0])
                             : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                             "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::AT(tiles[stage]),
                             "l"(&map), "r"(0), "r"(i), AT(&full[stage])
                             : "memory");
            }
        return;
    }
    for (int i = 0; i < TILES; i++) {
        int stage = i % STAGES;
        int *result = results[i & 1];
        if (threadIdx.x == 0) // the store before the last has read its buffer
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        asm volatile("bar.sync 1, %0;" ::"r"((int)WORKERS) : "memory");
        wait(&full[stage], i / STAGES & 1);
        for (int k = threadIdx.x; k < TILE; k += WORKERS)
            result[k] = tiles[stage][TILE - 1 - k] * 2;
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::AT(&empty[stage]) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, %0;" ::"r"((int)WORKERS) : "memory");
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             out + i * TILE),
                         AT(result), "r"((int)sizeof results[0])
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main()
{
    static int host[TILES * TILE];
    int *in, *out, wrong = 0;
    for (int i = 0; i < TILES * TILE; i++)
        host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    CUtensorMap map;
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    cuuint64_t dim[2] = {TILE, TILES}, stride = TILE * sizeof(int);
    cuuint32_t box[2] = {TILE, 1}, step[2] = {1, 1};
    ((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, dim, &stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    for (int run = 0; run < 2; run++) {
        if (run)
            pipeline<3><<<1, WORKERS + 32>>>(map, out);
        else
            pipeline<11><<<1, WORKERS + 32>>>(map, out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < TILES * TILE; i++)
            wrong += host[i] != 2 * (i / TILE * TILE + TILE - 1 - i % TILE);
        cudaMemset(out, 0, sizeof host);
    }
    cudaFree(in);
    cudaFree(out);
    return wrong != 0;
}
