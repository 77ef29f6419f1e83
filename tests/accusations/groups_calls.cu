// groups_calls.cu: cooperative groups: blocks, tiles, coalesced threads, grids, and what they do
// together.
#include "calls.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

enum { THREADS = 128 };

__global__ void blocks(const int *in, int *out)
{
    __shared__ int s[THREADS];
    cg::thread_block block = cg::this_thread_block();
    s[block.thread_rank()] = in[block.thread_rank()];
    block.sync();
    out[block.thread_rank()] = s[THREADS - 1 - block.thread_rank()];
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    s[block.thread_rank()] = block.size() + block.group_index().x;
    cg::sync(block);
    out[THREADS + block.thread_rank()] = s[(block.thread_rank() + 1) % THREADS];
}

template <int SIZE> __global__ void tiles(const int *in, int *out)
{
    __shared__ int s[THREADS];
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int i = threadIdx.x, v = in[i], rank = tile.thread_rank();
    s[i] = v;
    tile.sync();
    int mirrored = s[i - rank + SIZE - 1 - rank];
    int sum = cg::reduce(tile, v, cg::plus<int>());
    int least = cg::reduce(tile, v, cg::less<int>());
    int before = cg::exclusive_scan(tile, v);
    int upto = cg::inclusive_scan(tile, v);
    int first = tile.shfl(v, 0), next = tile.shfl_down(v, 1), last = tile.shfl_up(v, 1);
    int crossed = tile.shfl_xor(v, 1);
    unsigned odd = tile.ballot(v & 1);
    bool any = tile.any(v & 1), all = tile.all(v >= 0);
    unsigned alike = tile.match_any(v & 3);
    bool right = mirrored == in[i - rank + SIZE - 1 - rank] && before + v == upto && first == in[i - rank];
    right &= rank == SIZE - 1 ? upto == sum : next == in[i + 1];
    right &= rank == 0 || last == in[i - 1];
    right &= crossed == in[i ^ 1] && any == (odd != 0) && all && (alike >> rank & 1) && least <= v;
    out[i] = right ? sum : -1;
}

__global__ void coalesced(const int *in, int *out)
{
    int v = in[threadIdx.x], result = 0;
    if (v & 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        int sum = cg::reduce(some, 1, cg::plus<int>());
        int rank = cg::exclusive_scan(some, 1);
        int leader = some.shfl(v, 0);
        some.sync();
        result = sum == (int)some.size() && rank == (int)some.thread_rank() && leader & 1 ? sum : -1;
    }
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::labeled_partition(tile, v % 3);
    auto halves = cg::binary_partition(tile, v % 2 == 0);
    int parts = cg::reduce(part, 1, cg::plus<int>()), size = cg::reduce(halves, 1, cg::plus<int>());
    out[threadIdx.x] = parts == (int)part.size() && size == (int)halves.size() ? result : -1;
}

__global__ void aggregated(const int *in, int *count, int *out)
{
    if (in[threadIdx.x] & 1) {
        auto some = cg::coalesced_threads();
        cg::invoke_one(some, [&] { atomicAdd(count, (int)some.size()); });
        int at = cg::invoke_one_broadcast(some, [&] { return atomicAdd(count + 1, (int)some.size()); });
        out[at + some.thread_rank()] = in[threadIdx.x];
    }
}

__global__ void copies(const int *in, int *out)
{
    __shared__ int s[THREADS];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(int) * THREADS);
    cg::wait(block);
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x];
    block.sync();
    cg::memcpy_async(block, s, in + THREADS, sizeof(int) * THREADS);
    cg::wait_prior<0>(block);
    block.sync();
    out[THREADS + threadIdx.x] = s[THREADS - 1 - threadIdx.x];
}

__global__ void grids(const int *in, int *parts, int *out)
{
    auto grid = cg::this_grid();
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = cg::reduce(tile, in[grid.thread_rank() % (4 * THREADS)], cg::plus<int>());
    if (tile.thread_rank() == 0)
        parts[grid.thread_rank() / 32] = v;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int sum = 0;
        for (int i = 0; i < (int)(grid.size() / 32); i++)
            sum += parts[i];
        *out = sum;
    }
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
    if (grid.block_rank() == 1 && threadIdx.x == 0)
        out[1] = out[0] + grid.num_blocks();
}

static int *in, *out;

static bool all_at_least(int count, int least)
{
    bool right = true;
    for (int i = 0; i < count; i++)
        right &= out[i] >= least;
    return right;
}

static int sum_to(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += in[i];
    return sum;
}

template <int SIZE> static void try_tile(const char *const names[])
{
    tiles<SIZE><<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    bool right = all_at_least(THREADS, 0) && out[0] == sum_to(SIZE);
    for (int i = 0; names[i]; i++)
        called(names[i], right);
}

int main()
{
    cudaMallocManaged(&in, 4 * THREADS * sizeof(int));
    cudaMallocManaged(&out, 4 * THREADS * sizeof(int));
    for (int i = 0; i < 4 * THREADS; i++)
        in[i] = number(i);
    blocks<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    bool right = out[3] == in[THREADS - 4] && out[THREADS] == THREADS;
    called("cg::this_thread_block sync", right);
    called("cg::thread_block barrier_arrive and barrier_wait", right);
    called("cg::sync", right);
    const char *const full[] = {"cg::tiled_partition<32> sync", "cg::reduce plus",
                                "cg::reduce less", "cg::exclusive_scan", "cg::inclusive_scan",
                                "cg::tile shfl", "cg::tile shfl_down", "cg::tile shfl_up",
                                "cg::tile shfl_xor", "cg::tile ballot", "cg::tile any",
                                "cg::tile all", "cg::tile match_any", NULL};
    const char *const sixteen[] = {"cg::tiled_partition<16>", NULL};
    const char *const four[] = {"cg::tiled_partition<4>", NULL};
    try_tile<32>(full);
    try_tile<16>(sixteen);
    try_tile<4>(four);
    coalesced<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    right = all_at_least(THREADS, 0);
    called("cg::coalesced_threads", right);
    called("cg::coalesced_group reduce", right);
    called("cg::coalesced_group exclusive_scan", right);
    called("cg::coalesced_group shfl", right);
    called("cg::labeled_partition", right);
    called("cg::binary_partition", right);
    int *count;
    cudaMallocManaged(&count, 2 * sizeof(int));
    count[0] = count[1] = 0;
    aggregated<<<1, THREADS>>>(in, count, out);
    cudaDeviceSynchronize();
    int odd = 0;
    for (int i = 0; i < THREADS; i++)
        odd += in[i] & 1;
    called("cg::invoke_one", count[0] == odd);
    called("cg::invoke_one_broadcast", count[1] == odd);
    copies<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cg::memcpy_async", out[0] == in[THREADS - 1]);
    called("cg::wait_prior", out[THREADS] == in[2 * THREADS - 1]);
    int *parts;
    cudaMalloc(&parts, 64 * sizeof(int));
    void *words[] = {&in, &parts, &out};
    cudaLaunchCooperativeKernel((void *)grids, dim3(4), dim3(THREADS), words, 0, 0);
    cudaDeviceSynchronize();
    called("cg::this_grid sync", out[0] == sum_to(4 * THREADS));
    called("cg::grid_group barrier_arrive and barrier_wait", out[1] == out[0] + 4);
    cudaFree(parts);
    cudaFree(count);
    cudaFree(in);
    cudaFree(out);
    return wrong_calls != 0;
}
