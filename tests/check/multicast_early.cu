// multicast_early.cu: a block copies to both blocks of its cluster; the other one reads without
// having waited for its own mbarrier.
// options: -arch=sm_90
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
#define AT(x) "r"((unsigned)__cvta_generic_to_shared(x))

__global__ void __cluster_dims__(2, 1, 1) spread(const int *in, int *out)
{
    __shared__ alignas(128) int tile[64];
    __shared__ alignas(8) uint64_t full;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&full) : "memory");
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::AT(tile), "l"(in), AT(&full), "h"((short)3) : "memory"); // expect: race
#ifdef FIXED
    bool waits = true;
#else
    bool waits = cluster.block_rank() == 0;
#endif
    int done = !waits;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
    int value = 0;
    if (!waits)
        __nanosleep(100000);
    value = tile[63 - threadIdx.x]; // expect: race "between blocks of a cluster"
    out[blockIdx.x * 64 + threadIdx.x] = value;
    cluster.sync();
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    spread<<<2, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
