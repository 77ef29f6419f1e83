// bulk_push_reused.cu: a block copies its tile to its neighbour and writes the tile again. Only the
// neighbour's mbarrier says when the tile has been read.
// options: -arch=sm_90
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void __cluster_dims__(2, 1, 1) push(int *out)
{
    __shared__ __align__(128) int mine[64], theirs[64];
    __shared__ __align__(8) uint64_t full;
    auto cluster = cg::this_cluster();
    uint32_t to, bar, done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&full) : "memory");
    }
    mine[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    if (threadIdx.x == 0) {
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : AT(theirs), "r"(cluster.block_rank() ^ 1));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : AT(&full), "r"(cluster.block_rank() ^ 1));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), AT(mine), "r"(bar) : "memory"); // expect: race
    }
    __syncthreads();
#ifndef FIXED
    mine[threadIdx.x] = 7; // expect: race "its mbarrier's phase"
#endif
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
    mine[threadIdx.x] = 8; // the neighbour has waited, and said so
    out[blockIdx.x * 64 + threadIdx.x] += mine[threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc(&out, 128 * sizeof(int));
    push<<<2, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
