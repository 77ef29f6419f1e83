// CUB inside kernels: WarpReduce, WarpScan, BlockReduce (three algorithms), BlockScan with a prefix
// callback, BlockRadixSort of keys and pairs, BlockLoad and BlockStore with transposition,
// BlockHistogram, BlockDiscontinuity, BlockExchange, BlockMergeSort.
// flags: -std=c++17
// takes: long

#include <algorithm>
#include <cstdio>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <vector>

template <cub::BlockReduceAlgorithm ALGORITHM> __global__ void block_reduce(const int *in, int *out)
{
    using reduce = cub::BlockReduce<int, 128, ALGORITHM>;
    __shared__ typename reduce::TempStorage storage;
    int sum = reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
    __syncthreads();
    int largest = reduce(storage).Reduce(in[blockIdx.x * 128 + threadIdx.x],
                                         [](int a, int b) { return a > b ? a : b; });
    __syncthreads();
    int some = reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x], 77);
    if (threadIdx.x == 0) {
        out[blockIdx.x * 3] = sum;
        out[blockIdx.x * 3 + 1] = largest;
        out[blockIdx.x * 3 + 2] = some;
    }
}

__global__ void warps(const int *in, int *out)
{
    using reduce = cub::WarpReduce<int>;
    using scan = cub::WarpScan<int>;
    using half_reduce = cub::WarpReduce<int, 16>;
    __shared__ typename reduce::TempStorage reduce_storage[4];
    __shared__ typename scan::TempStorage scan_storage[4];
    __shared__ typename half_reduce::TempStorage half_storage[8];
    int t = threadIdx.x, warp = t / 32, inclusive, exclusive;
    int sum = reduce(reduce_storage[warp]).Sum(in[t]);
    scan(scan_storage[warp]).Scan(in[t], inclusive, exclusive, 0, [](int a, int b) {
        return a + b;
    });
    int half =
        half_reduce(half_storage[t / 16]).Reduce(in[t], [](int a, int b) { return a < b ? a : b; });
    out[t] = inclusive * 3 + exclusive;
    if (t % 32 == 0)
        out[t] += sum;
    if (t % 16 == 0)
        out[t] += half * 1000;
}

struct running {
    int total;
    __device__ int operator()(int aggregate)
    {
        int before = total;
        total += aggregate;
        return before;
    }
};

__global__ void block_scan(const int *in, int *out, int n)
{
    using load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
    using scan = cub::BlockScan<int, 64, cub::BLOCK_SCAN_RAKING>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
        typename scan::TempStorage scan;
    } s;
    running prefix = {1000};
    for (int base = 0; base < n; base += 256) {
        int items[4];
        load(s.load).Load(in + base, items, n - base, 0);
        __syncthreads();
        scan(s.scan).ExclusiveSum(items, items, prefix);
        __syncthreads();
        store(s.store).Store(out + base, items, n - base);
        __syncthreads();
    }
}

__global__ void block_sort(const unsigned *in, unsigned *keys, int *order)
{
    using sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    __shared__ typename sort::TempStorage storage;
    unsigned k[4];
    int v[4];
    for (int i = 0; i < 4; i++)
        k[i] = in[threadIdx.x * 4 + i], v[i] = threadIdx.x * 4 + i;
    sort(storage).Sort(k, v);
    for (int i = 0; i < 4; i++)
        keys[threadIdx.x * 4 + i] = k[i], order[threadIdx.x * 4 + i] = v[i];
}

__global__ void float_sort(const float *in, float *out)
{
    using sort = cub::BlockRadixSort<float, 64, 2>;
    using merge = cub::BlockMergeSort<float, 64, 2>;
    __shared__ typename sort::TempStorage storage;
    __shared__ typename merge::TempStorage merge_storage;
    float k[2] = {in[threadIdx.x * 2], in[threadIdx.x * 2 + 1]}, m[2] = {k[0], k[1]};
    sort(storage).SortDescendingBlockedToStriped(k);
    out[threadIdx.x] = k[0];
    out[threadIdx.x + 64] = k[1];
    merge(merge_storage).Sort(m, [](float a, float b) { return a < b; });
    out[128 + threadIdx.x * 2] = m[0];
    out[128 + threadIdx.x * 2 + 1] = m[1];
}

__global__ void others(const unsigned *in, unsigned *bins, int *flags, int *exchanged)
{
    using histogram = cub::BlockHistogram<unsigned char, 64, 2, 16, cub::BLOCK_HISTO_SORT>;
    using discontinuity = cub::BlockDiscontinuity<unsigned, 64>;
    using exchange = cub::BlockExchange<int, 64, 2>;
    __shared__ typename histogram::TempStorage h;
    __shared__ typename discontinuity::TempStorage d;
    __shared__ typename exchange::TempStorage e;
    unsigned char digits[2] = {(unsigned char)(in[threadIdx.x] & 15),
                               (unsigned char)(in[threadIdx.x] >> 8 & 15)};
    histogram(h).Histogram(digits, bins);
    unsigned run[2] = {threadIdx.x / 3, threadIdx.x / 3 + threadIdx.x % 2};
    int head[2];
    discontinuity(d).FlagHeads(head, run, [](unsigned a, unsigned b) { return a != b; });
    int items[2] = {(int)threadIdx.x * 2, (int)threadIdx.x * 2 + 1};
    exchange(e).BlockedToStriped(items, items);
    for (int i = 0; i < 2; i++) {
        flags[threadIdx.x * 2 + i] = head[i];
        exchanged[threadIdx.x * 2 + i] = items[i];
    }
}

template <class T> static T *managed(int n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    return p;
}

template <class T> static unsigned hash_of(const T *v, int n)
{
    unsigned hash = 0;
    for (int i = 0; i < n; i++)
        hash = hash * 31 + (unsigned)v[i];
    return hash;
}

int main()
{
    const int n = 512;
    int *in = managed<int>(n), *out = managed<int>(n), *order = managed<int>(n);
    unsigned *keys = managed<unsigned>(n), *sorted = managed<unsigned>(n);
    for (int i = 0; i < n; i++) {
        in[i] = i * 37 % 101 - 20;
        keys[i] = (unsigned)i * 2654435761u;
    }
    block_reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<4, 128>>>(in, out);
    cudaDeviceSynchronize();
    printf("reduce, warps: %d %d %d, %d %d %d\n", out[0], out[1], out[2], out[9], out[10], out[11]);
    block_reduce<cub::BLOCK_REDUCE_RAKING><<<4, 128>>>(in, out);
    cudaDeviceSynchronize();
    printf("reduce, raking: %d %d %d\n", out[0], out[1], out[2]);
    block_reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY><<<4, 128>>>(in, out);
    cudaDeviceSynchronize();
    printf("reduce, commutative: %d %d %d\n", out[0], out[1], out[2]);
    warps<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    printf("warps: %d %d %d hash %08x\n", out[0], out[16], out[127], hash_of(out, 128));
    block_scan<<<1, 64>>>(in, out, 500);
    cudaDeviceSynchronize();
    int sum = 1000, wrong = 0;
    for (int i = 0; i < 500; i++) {
        wrong += out[i] != sum;
        sum += in[i];
    }
    printf("scan: %d %d %d wrong %d\n", out[0], out[256], out[499], wrong);
    block_sort<<<1, 128>>>(keys, sorted, order);
    cudaDeviceSynchronize();
    wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += (i && sorted[i - 1] > sorted[i]) || keys[order[i]] != sorted[i];
    printf("sort: %u %u order %d %d wrong %d\n", sorted[0], sorted[511], order[0], order[511],
           wrong);
    float *floats = managed<float>(128), *result = managed<float>(256);
    for (int i = 0; i < 128; i++)
        floats[i] = (float)(in[i] * 3 - 11) / 4.0f * (i % 2 ? -1 : 1);
    float_sort<<<1, 64>>>(floats, result);
    cudaDeviceSynchronize();
    wrong = 0;
    for (int i = 1; i < 128; i++)
        wrong += (result[i - 1] < result[i]) + (result[127 + i] > result[128 + i]);
    printf("float sorts: %g %g, %g %g wrong %d\n", result[0], result[127], result[128], result[255],
           wrong);
    unsigned *bins = managed<unsigned>(16);
    others<<<1, 64>>>(keys, bins, out, order);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("histogram: %u %u %u hash %08x, heads hash %08x, exchange %d %d\n", bins[0], bins[7],
           bins[15], hash_of(bins, 16), hash_of(out, 128), order[1], order[126]);
    return 0;
}
