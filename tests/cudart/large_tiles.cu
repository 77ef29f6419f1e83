// large_tiles.cu: cooperative-groups tiles of 64 to 512 threads: sync, collectives, reduce, scan,
// beside static and dynamic shared memory. Tiles over 32 threads keep their state in the shared
// memory that the system reserves, from sm_80 on.
// nvcc: -std=c++17

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(status));                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct Results {
    int sum, largest, any, all, broadcast, last, meta_size, meta_rank, neighbours, inclusive;
    long long wide;
    float real;
};

// Threads of a tile hand values on in rounds; the tile's sync is all that orders them.
template <unsigned Size, typename Tile>
__device__ int rounds(const Tile &tile, int *slots)
{
    int at = tile.meta_group_rank() * Size, rank = tile.thread_rank();
    slots[at + rank] = rank;
    tile.sync();
    for (int round = 0; round < 4; round++) {
        int next = slots[at + (rank + 1) % Size];
        tile.sync();
        slots[at + rank] = next;
        tile.sync();
    }
    return slots[at + rank];
}

template <unsigned Size>
__global__ void tiles(Results *results, int *ranks, const int *input)
{
    __shared__ cg::block_tile_memory<1024> scratch;
    __shared__ int guard[64]; // must stay as it is
    extern __shared__ int slots[];
    cg::thread_block block = cg::this_thread_block(scratch);
    int thread = block.thread_rank();
    if (thread < 64)
        guard[thread] = 0x5a5a + thread;
    block.sync();
    auto tile = cg::tiled_partition<Size>(block);
    int value = input[blockIdx.x * blockDim.x + thread];
    Results mine;
    mine.sum = cg::reduce(tile, value, cg::plus<int>());
    mine.largest = cg::reduce(tile, value, cg::greater<int>());
    mine.wide = cg::reduce(tile, (long long)value << 33, cg::plus<long long>());
    mine.real = cg::reduce(tile, value * 0.25f, cg::plus<float>());
    mine.any = tile.any(value == 77);
    mine.all = tile.all(value >= 0);
    mine.broadcast = tile.shfl(value, Size - 3);
    mine.last = tile.shfl(value * 3, Size / 2);
    mine.inclusive = cg::inclusive_scan(tile, 1, cg::plus<int>());
    mine.meta_size = tile.meta_group_size();
    mine.meta_rank = tile.meta_group_rank();
    mine.neighbours = rounds<Size>(tile, slots);
    // Tiles go at their own pace.
    for (unsigned turn = 0; turn < tile.meta_group_rank(); turn++)
        tile.sync();
    block.sync();
    int spoilt = thread < 64 && guard[thread] != 0x5a5a + thread;
    if (__syncthreads_or(spoilt) && thread == 0)
        printf("shared memory was overwritten\n");
    int index = blockIdx.x * blockDim.x + thread;
    ranks[index] = mine.inclusive * 10000 + mine.neighbours;
    if (tile.thread_rank() == Size - 1)
        results[index / Size] = mine;
}

template <unsigned Size>
void run(int blocks, int threads)
{
    int count = blocks * threads, groups = count / Size;
    std::vector<int> input(count), ranks(count);
    for (int i = 0; i < count; i++)
        input[i] = i * 7919 % 1000;
    Results *results;
    int *device_ranks, *device_input;
    CHECK(cudaMallocManaged(&results, groups * sizeof(Results)));
    CHECK(cudaMalloc(&device_ranks, count * sizeof(int)));
    CHECK(cudaMalloc(&device_input, count * sizeof(int)));
    CHECK(cudaMemcpy(device_input, input.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    tiles<Size><<<blocks, threads, threads * sizeof(int)>>>(results, device_ranks, device_input);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(ranks.data(), device_ranks, count * sizeof(int), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int group = 0; group < groups; group++) {
        Results want = {};
        want.all = 1;
        for (int i = 0; i < (int)Size; i++) {
            int value = input[group * Size + i];
            want.sum += value;
            want.largest = value > want.largest ? value : want.largest;
            want.any |= value == 77;
            want.wide += (long long)value << 33;
            want.real += value * 0.25f;
            int rank = (i + 1) * 10000 + (i + 4) % (int)Size;
            wrong += ranks[group * Size + i] != rank;
        }
        const Results &got = results[group];
        wrong += got.sum != want.sum || got.largest != want.largest || got.wide != want.wide ||
                 got.real != want.real || !got.any != !want.any || !got.all != !want.all ||
                 got.broadcast != input[group * Size + Size - 3] ||
                 got.last != input[group * Size + Size / 2] * 3 ||
                 got.meta_size != threads / (int)Size ||
                 got.meta_rank != group % (threads / (int)Size);
    }
    printf("tiles of %u in %d blocks of %d: first sum %d, %d wrong\n", Size, blocks, threads,
           results[0].sum, wrong);
    CHECK(cudaFree(results));
    CHECK(cudaFree(device_ranks));
    CHECK(cudaFree(device_input));
}

// No shared memory of its own beside what the tile needs.
__global__ void bare(int *sum)
{
    __shared__ cg::block_tile_memory<512> scratch;
    auto tile = cg::tiled_partition<128>(cg::this_thread_block(scratch));
    int total = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    if (tile.thread_rank() == 0)
        sum[tile.meta_group_rank()] = total;
}

int main()
{
    run<64>(3, 256);
    run<128>(3, 512);
    run<256>(2, 1024);
    run<512>(2, 1024);
    run<64>(2, 1024);
    run<512>(2, 512);
    int *sums;
    CHECK(cudaMallocManaged(&sums, 4 * sizeof(int)));
    bare<<<1, 512>>>(sums);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d %d\n", sums[0], sums[1], sums[2], sums[3]);
    CHECK(cudaFree(sums));
    return 0;
}
