// mbarrier_bytes.cu: expect_tx announces half of the bytes that a bulk copy brings, so that the
// phase ends before the second copy is there.
// options: -arch=sm_90
#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void load(const int *in, int *out)
{
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef FIXED
        uint32_t bytes = 256;
#else
        uint32_t bytes = 128;
#endif
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, // expect: tx_count "128 bytes more"
                                       bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, 128u, &full);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + 32, in + 32, 128u, &full); // expect: race
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0))
        continue;
    out[threadIdx.x] = tile[63 - threadIdx.x]; // expect: race
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    load<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
