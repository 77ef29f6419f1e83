// right_bulk_warp.cu: all lanes of a warp store the same box of a tensor, as CUTLASS's epilogues do:
// nothing is wrong with that.
// options: -arch=sm_90
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

enum { TILE = 256, TILES = 4 };

__global__ void store(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) int tile[TILE];
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        tile[i] = blockIdx.x * TILE + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
                         "l"(&map),
                     "r"(0), "r"(blockIdx.x), "r"((uint32_t)__cvta_generic_to_shared(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    static int host[TILES * TILE];
    int *out, wrong = 0;
    cudaMalloc(&out, sizeof host);
    CUtensorMap map;
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    cuuint64_t dim[2] = {TILE, TILES}, stride = TILE * sizeof(int);
    cuuint32_t box[2] = {TILE, 1}, step[2] = {1, 1};
    ((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, out, dim, &stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    store<<<TILES, 128>>>(map);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < TILES * TILE; i++)
        wrong += host[i] != i;
    cudaFree(out);
    return wrong != 0;
}
