// Values travel round a ring of blocks through distributed shared memory: st.async and red.async by
// cuda::ptx, counted at the neighbour's mbarrier, two buffers with phases, and a remote arrival that
// frees a buffer again.
// flags: -arch=sm_90 -std=c++17

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { SIZE = 4, THREADS = 32, STEPS = 11 };

__device__ void wait(uint64_t *barrier, uint32_t parity)
{
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity))
        continue;
}

__global__ void __cluster_dims__(SIZE, 1, 1) ring(uint64_t *out, uint32_t *counted)
{
    __shared__ alignas(16) uint64_t box[2][THREADS];
    __shared__ uint32_t visits;
    __shared__ uint64_t full[2], empty[2], end;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), next = (rank + 1) % SIZE, before = (rank + SIZE - 1) % SIZE;
    int lane = threadIdx.x;
    if (lane == 0) {
        visits = 0;
        for (int i = 0; i < 2; i++) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], THREADS);
        }
        ptx::mbarrier_init(&end, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &end,
                                       STEPS * 4);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    uint64_t value = (uint64_t)(blockIdx.x * THREADS + lane) << 32;
    for (int step = 0; step < STEPS; step++) {
        int slot = step % 2;
        uint32_t parity = step / 2 % 2;
        if (lane == 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full[slot], THREADS * 8);
        wait(&empty[slot], parity ^ 1);
        ptx::st_async(cluster.map_shared_rank(&box[slot][lane], next), value + rank + 1,
                      cluster.map_shared_rank(&full[slot], next));
        if (lane == 0)
            ptx::red_async(ptx::op_add, cluster.map_shared_rank(&visits, next), rank + 1u,
                           cluster.map_shared_rank(&end, next));
        wait(&full[slot], parity);
        value = box[slot][lane];
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&empty[slot], before));
    }
    wait(&end, 0);
    out[blockIdx.x * THREADS + lane] = value;
    if (lane == 0)
        counted[blockIdx.x] = visits;
    cluster.sync();
}

int main()
{
    enum { BLOCKS = 8 };
    uint64_t *out, got[BLOCKS * THREADS];
    uint32_t *counted, visits[BLOCKS];
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&counted, sizeof visits);
    ring<<<BLOCKS, THREADS>>>(out, counted);
    cudaError_t status = cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(visits, counted, sizeof visits, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(status));
    for (int block = 0; block < BLOCKS; block++) {
        uint64_t first = got[block * THREADS], last = got[block * THREADS + THREADS - 1];
        printf("block %d: from thread %u, sum %u; last from %u, sum %u; %u\n", block,
               (unsigned)(first >> 32), (unsigned)first, (unsigned)(last >> 32), (unsigned)last,
               visits[block]);
    }
    cudaFree(out);
    cudaFree(counted);
}
