// A producer block feeds the others of its cluster: cp.async.bulk with multicast, and from shared
// to shared memory, counted at cuda::barriers (barrier_native_handle) and mbarriers; consumers free
// a stage by arriving at the producer's mbarrier. cuda::barrier with memcpy_async brings in weights.
// flags: -gencode arch=compute_90a,code=compute_90a -std=c++17 -diag-suppress=20054

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { SIZE = 4, THREADS = 64, TILE = 256, STAGES = 2, TILES = 7 };

__device__ void wait(uint64_t *mbarrier, uint32_t parity)
{
    while (!ptx::mbarrier_try_wait_parity(mbarrier, parity, 1000))
        continue;
}

__global__ void __cluster_dims__(SIZE, 1, 1)
    feed(const int *in, const int *weights, long long *out, int *copied)
{
    __shared__ alignas(128) int tile[STAGES][TILE];
    __shared__ alignas(16) int weight[TILE];
    __shared__ alignas(16) int given[THREADS];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    __shared__ barrier loaded, handed;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        init(&loaded, THREADS);
        init(&handed, 1);
        for (int i = 0; i < STAGES; i++) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], SIZE);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async();
    }
    cluster.sync();
    cuda::memcpy_async(cg::this_thread_block(), weight, weights + rank * TILE,
                       cuda::aligned_size_t<16>(sizeof weight), loaded);
    loaded.arrive_and_wait();
    long long sum = 0;
    for (int k = 0; k < TILES; k++) {
        int stage = k % STAGES;
        uint32_t parity = k / STAGES % 2;
        if (threadIdx.x == 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full[stage], sizeof tile[0]);
        if (rank == 0 && threadIdx.x == 0) {
            wait(&empty[stage], parity ^ 1);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[stage], in + k * TILE,
                               (uint32_t)sizeof tile[0], &full[stage], (uint16_t)((1 << SIZE) - 1));
        }
        wait(&full[stage], parity);
        for (int i = threadIdx.x; i < TILE; i += THREADS)
            sum += (long long)tile[stage][i] * weight[i];
        __syncthreads();
        if (threadIdx.x == 0)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&empty[stage], 0));
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
    /* The weights' first row goes to the next block, from shared to shared memory. */
    uint64_t *native = cuda::device::barrier_native_handle(handed);
    if (threadIdx.x == 0) {
        unsigned next = (rank + 1) % SIZE;
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, native,
                                       sizeof given);
        ptx::fence_proxy_async();
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                           cluster.map_shared_rank(given, next), weight, (uint32_t)sizeof given,
                           cluster.map_shared_rank(native, next));
    }
    wait(native, 0);
    copied[blockIdx.x * THREADS + threadIdx.x] = given[threadIdx.x];
    cluster.sync();
}

int main()
{
    enum { BLOCKS = 8, OUT = BLOCKS * THREADS };
    std::vector<int> in(TILES * TILE), weights(SIZE * TILE), copied(OUT);
    std::vector<long long> got(OUT);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * 37 % 101) - 50;
    for (size_t i = 0; i < weights.size(); i++)
        weights[i] = (int)(i * 11 % 23) - 11;
    int *device_in, *device_weights, *device_copied;
    long long *out;
    cudaMalloc(&device_in, in.size() * sizeof(int));
    cudaMalloc(&device_weights, weights.size() * sizeof(int));
    cudaMalloc(&device_copied, OUT * sizeof(int));
    cudaMalloc(&out, OUT * sizeof(long long));
    cudaMemcpy(device_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(device_weights, weights.data(), weights.size() * sizeof(int), cudaMemcpyHostToDevice);
    feed<<<BLOCKS, THREADS>>>(device_in, device_weights, out, device_copied);
    cudaError_t status =
        cudaMemcpy(got.data(), out, OUT * sizeof(long long), cudaMemcpyDeviceToHost);
    cudaMemcpy(copied.data(), device_copied, OUT * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0, wrong_copies = 0;
    for (int t = 0; t < OUT; t++) {
        int rank = t / THREADS % SIZE, lane = t % THREADS;
        long long sum = 0;
        for (int k = 0; k < TILES; k++)
            for (int i = lane; i < TILE; i += THREADS)
                sum += (long long)in[k * TILE + i] * weights[rank * TILE + i];
        wrong += sum != got[t];
        wrong_copies += copied[t] != weights[(rank + SIZE - 1) % SIZE * TILE + lane];
    }
    printf("%s, %d wrong, %d wrong copies\n", cudaGetErrorName(status), wrong, wrong_copies);
    printf("%lld %lld %d %d\n", got[3], got[OUT - 1], copied[5], copied[OUT - 2]);
    cudaFree(device_in);
    cudaFree(device_weights);
    cudaFree(device_copied);
    cudaFree(out);
}
