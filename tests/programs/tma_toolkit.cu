// tma_toolkit.cu: bulk copies through the toolkit's own words: cuda::device::experimental, cuda::ptx,
// cuda::memcpy_async to a barrier, and bulk reductions.
// flags: -std=c++17
#include "tma.cuh"

#include <cuda/barrier>
#include <cuda/ptx>

namespace tma = cuda::device::experimental;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { N = 64, WIDE = 32, HIGH = 8 };

// The programming guide's example: a tile is loaded, changed and stored.
__global__ void scale(const __grid_constant__ CUtensorMap map, int x, int y)
{
    __shared__ alignas(128) int tile[HIGH][WIDE];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        tma::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        tma::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < HIGH * WIDE; i += blockDim.x)
        tile[i / WIDE][i % WIDE] *= 3;
    tma::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        tma::cp_async_bulk_commit_group();
        tma::cp_async_bulk_wait_group_read<0>();
    }
}

// The same words of cuda::ptx.
__global__ void add_one(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) int tile[HIGH][WIDE];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        const int at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    for (int i = threadIdx.x; i < HIGH * WIDE; i += blockDim.x)
        tile[i / WIDE][i % WIDE] = 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int at[2] = {WIDE, HIGH};
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at,
                                         tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
}

// A row by cuda::memcpy_async, then added to another by a bulk reduction.
__global__ void rows(const int *in, int *out)
{
    __shared__ alignas(128) int row[N];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(row, in, cuda::aligned_size_t<16>(sizeof(row)), bar);
    bar.arrive_and_wait();
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, row,
                                  sizeof(row));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

int main()
{
    std::vector<int> host(N * N), right(N * N);
    for (int i = 0; i < N * N; i++)
        host[i] = right[i] = i * 5 - 300;
    int *data;
    CHECK(cudaMalloc(&data, N * N * sizeof(int)));
    CHECK(cudaMemcpy(data, host.data(), N * N * sizeof(int), cudaMemcpyHostToDevice));
    Tensor t;
    t.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
    t.bytes = 4;
    t.dim[0] = t.dim[1] = N;
    t.box[0] = WIDE;
    t.box[1] = HIGH;
    t.lay_out();
    CUtensorMap map = t.encode(data);
    scale<<<1, 128>>>(map, 16, 60);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    add_one<<<1, 128>>>(map);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    rows<<<3, 32>>>(data + 2 * N, data + 5 * N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int y = 60; y < N; y++)
        for (int x = 16; x < 16 + WIDE; x++)
            right[y * N + x] *= 3;
    for (int y = HIGH; y < 2 * HIGH; y++)
        for (int x = WIDE; x < 2 * WIDE; x++)
            right[y * N + x] += 1;
    for (int x = 0; x < N; x++)
        right[5 * N + x] += 3 * right[2 * N + x];
    CHECK(cudaMemcpy(host.data(), data, N * N * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N * N; i++)
        wrong += host[i] != right[i];
    printf("%d of %d elements differ\n", wrong, N * N);
    CHECK(cudaFree(data));
    return wrong != 0;
}
