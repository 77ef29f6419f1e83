// bulk_map_changed.cu: a kernel changes a tensor map in global memory and uses it without acquiring
// it.
// options: -arch=sm_90a
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(CUtensorMap *map, const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(in) : "memory"); // expect: stale_read
#ifdef FIXED
        asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
#endif
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&barrier)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::AT(tile), "l"(map), "r"(0), AT(&barrier) : "memory"); // expect: stale_read "fence.proxy.tensormap"
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again;\n}" ::AT(&barrier) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    int *in, *out;
    CUtensorMap host, *map;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&map, sizeof(CUtensorMap));
    cudaMemset(in, 0, 64 * sizeof(int));
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    cuuint64_t dim = 64, stride = 0;
    cuuint32_t box = 64, step = 1;
    ((decltype(&cuTensorMapEncodeTiled))encode)(
        &host, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, out, &dim, &stride, &box, &step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cudaMemcpy(map, &host, sizeof host, cudaMemcpyHostToDevice);
    load<<<1, 64>>>(map, in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(map);
}
