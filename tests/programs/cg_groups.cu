// Cooperative groups below the grid: thread_block, tiled_partition of 32, 16, 4, nested tiles,
// coalesced_threads, labeled and binary partitions, reduce, inclusive and exclusive scan, shuffles
// through tiles, memcpy_async of a group, invoke_one.
// flags: -std=c++17

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile32 = cg::tiled_partition<32>(block);
    auto tile16 = cg::tiled_partition<16>(tile32);
    auto tile4 = cg::tiled_partition<4>(tile16);
    int t = block.thread_rank(), *mine = out + t * 8;
    mine[0] = tile32.meta_group_rank() * 1000 + tile32.thread_rank();
    mine[1] = tile16.meta_group_rank() * 1000 + tile16.thread_rank();
    mine[2] = tile4.meta_group_size() * 1000 + tile4.thread_rank();
    mine[3] = tile4.shfl(t, 2);
    mine[4] = cg::reduce(tile16, t, cg::plus<int>());
    mine[5] = cg::reduce(tile4, t ^ 5, cg::greater<int>());
    mine[6] = cg::inclusive_scan(tile32, t % 5);
    mine[7] = cg::exclusive_scan(tile16, t, cg::plus<int>());
    block.sync();
}

__global__ void coalesced(int *out, const int *in)
{
    int t = threadIdx.x;
    out[t] = -1;
    if (in[t] % 3 == 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        int sum = cg::reduce(active, in[t], cg::plus<int>());
        out[t] = active.size() * 100000 + active.thread_rank() * 1000 + sum % 1000;
        out[t + 64] = active.shfl_up(in[t], 1);
        out[t + 128] = cg::exclusive_scan(active, 1);
    }
}

__global__ void partitions(int *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = tile.thread_rank();
    auto label = cg::labeled_partition(tile, t % 5);
    auto side = cg::binary_partition(tile, t > 20);
    out[t * 4] = label.size() * 100 + label.thread_rank();
    out[t * 4 + 1] = cg::reduce(label, t, cg::plus<int>());
    out[t * 4 + 2] = side.size() * 100 + side.thread_rank();
    out[t * 4 + 3] = (int)side.ballot(t & 1);
}

__global__ void floats(float *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float v = (float)(threadIdx.x % 8) + 0.5f;
    out[threadIdx.x] = cg::reduce(tile, v, [](float a, float b) { return a > b ? a : b; });
    double d = cg::reduce(tile, (double)v, cg::plus<double>());
    out[threadIdx.x + 32] = (float)d;
}

__global__ void copies(const int *in, int *out, int n)
{
    extern __shared__ int staged[];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, staged, in + blockIdx.x * n, sizeof(int) * n);
    cg::wait(block);
    for (int i = block.thread_rank(); i < n; i += block.size())
        out[blockIdx.x * n + i] = staged[n - 1 - i] * 2;
}

__global__ void ranks(unsigned *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    dim3 index = block.group_index(), thread = block.thread_index();
    if (grid.thread_rank() == 77) {
        out[0] = index.x * 100 + index.y * 10 + index.z;
        out[1] = thread.x * 100 + thread.y * 10 + thread.z;
        out[2] = (unsigned)grid.size();
        out[3] = block.size();
        out[4] = grid.is_valid();
        out[5] = (unsigned)grid.block_rank() * 1000 + (unsigned)grid.num_blocks();
    }
    __shared__ unsigned elected;
    cg::invoke_one(block, [&] { elected = 1; });
    block.sync();
    auto arrival = block.barrier_arrive();
    block.barrier_wait(std::move(arrival));
    if (grid.thread_rank() == 0)
        out[6] = elected;
}

static unsigned hash_of(const int *values, int count)
{
    unsigned hash = 0;
    for (int i = 0; i < count; i++)
        hash = hash * 31 + (unsigned)values[i];
    return hash;
}

int main()
{
    int *out, *in;
    cudaMallocManaged(&out, 1024 * 4);
    cudaMallocManaged(&in, 1024 * 4);
    for (int i = 0; i < 1024; i++)
        in[i] = i * 11 % 97, out[i] = 0;
    tiles<<<1, 96>>>(out);
    cudaDeviceSynchronize();
    for (int t : {0, 17, 50, 95})
        printf("tiles %d: %d %d %d %d %d %d %d %d\n", t, out[t * 8], out[t * 8 + 1], out[t * 8 + 2],
               out[t * 8 + 3], out[t * 8 + 4], out[t * 8 + 5], out[t * 8 + 6], out[t * 8 + 7]);
    printf("tiles hash %08x\n", hash_of(out, 96 * 8));
    cudaMemset(out, 0, 4096);
    coalesced<<<1, 64>>>(out, in);
    cudaDeviceSynchronize();
    printf("coalesced: %d %d %d %d hash %08x\n", out[0], out[5], out[38], out[63],
           hash_of(out, 192));
    partitions<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("partitions: %d %d %d %d, %d %d %d %d, hash %08x\n", out[0], out[1], out[2], out[3],
           out[124], out[125], out[126], out[127], hash_of(out, 128));
    floats<<<1, 32>>>((float *)out);
    cudaDeviceSynchronize();
    printf("floats: %g %g\n", ((float *)out)[3], ((float *)out)[40]);
    copies<<<4, 64, 200 * 4>>>(in, out, 200);
    cudaDeviceSynchronize();
    printf("copies: %d %d %d hash %08x\n", out[0], out[199], out[799], hash_of(out, 800));
    ranks<<<dim3(2, 2, 2), dim3(4, 3, 2)>>>((unsigned *)out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("ranks: %d %d %d %d %d %d %d\n", out[0], out[1], out[2], out[3], out[4], out[5], out[6]);
    return 0;
}
