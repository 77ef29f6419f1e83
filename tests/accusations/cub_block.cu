// cub_block.cu: CUB's block-wide and warp-wide collectives, with each of their algorithms.
#include "calls.h"

#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>

enum { THREADS = 128, ITEMS = 4, ALL = THREADS * ITEMS };

template <cub::BlockReduceAlgorithm A> __global__ void reduce(const int *in, int *out)
{
    using block = cub::BlockReduce<int, THREADS, A>;
    __shared__ typename block::TempStorage storage;
    int sum = block(storage).Sum(in[threadIdx.x]);
    __syncthreads();
    int most = block(storage).Reduce(in[threadIdx.x], cuda::maximum<>(), 77);
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = most;
    }
}

template <cub::BlockScanAlgorithm A> __global__ void scan(const int *in, int *out)
{
    using block = cub::BlockScan<int, THREADS, A>;
    __shared__ typename block::TempStorage storage;
    int inclusive, exclusive, total;
    block(storage).InclusiveSum(in[threadIdx.x], inclusive);
    __syncthreads();
    block(storage).ExclusiveSum(in[threadIdx.x], exclusive, total);
    out[threadIdx.x] = inclusive - exclusive == in[threadIdx.x] ? inclusive : -1;
    out[THREADS] = total;
}

template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__global__ void move(const int *in, int *out)
{
    using load = cub::BlockLoad<int, THREADS, ITEMS, L>;
    using store = cub::BlockStore<int, THREADS, ITEMS, S>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
    } storage;
    int items[ITEMS];
    load(storage.load).Load(in, items);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        items[i] += 1;
    store(storage.store).Store(out, items, ALL - 3);
}

__global__ void sort(const int *in, int *out)
{
    using block = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ typename block::TempStorage storage;
    int items[ITEMS];
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    block(storage).Sort(items);
    cub::StoreDirectBlocked(threadIdx.x, out, items);
    __syncthreads();
    block(storage).SortDescending(items);
    cub::StoreDirectBlocked(threadIdx.x, out + ALL, items);
}

struct less {
    __device__ bool operator()(int a, int b) { return a < b; }
};

__global__ void merge_sort(const int *in, int *out)
{
    using block = cub::BlockMergeSort<int, THREADS, ITEMS>;
    using warp = cub::WarpMergeSort<int, ITEMS, 32>;
    __shared__ typename block::TempStorage storage;
    __shared__ typename warp::TempStorage warps[THREADS / 32];
    int items[ITEMS];
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    block(storage).Sort(items, less());
    cub::StoreDirectBlocked(threadIdx.x, out, items);
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    warp(warps[threadIdx.x / 32]).Sort(items, less());
    cub::StoreDirectBlocked(threadIdx.x, out + ALL, items);
}

__global__ void exchange(const int *in, int *out)
{
    using block = cub::BlockExchange<int, THREADS, ITEMS>;
    using warp = cub::WarpExchange<int, ITEMS, 32>;
    __shared__ typename block::TempStorage storage;
    __shared__ typename warp::TempStorage warps[THREADS / 32];
    int items[ITEMS];
    cub::LoadDirectStriped<THREADS>(threadIdx.x, in, items);
    block(storage).StripedToBlocked(items, items);
    for (int i = 0; i < ITEMS; i++)
        out[threadIdx.x * ITEMS + i] = items[i];
    __syncthreads();
    block(storage).BlockedToStriped(items, items);
    warp(warps[threadIdx.x / 32]).StripedToBlocked(items, items);
    warp(warps[threadIdx.x / 32]).BlockedToStriped(items, items);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, out + ALL, items);
}

__global__ void flags(const int *in, int *out)
{
    using heads = cub::BlockDiscontinuity<int, THREADS>;
    using differences = cub::BlockAdjacentDifference<int, THREADS>;
    using shifts = cub::BlockShuffle<int, THREADS>;
    __shared__ union {
        typename heads::TempStorage heads;
        typename differences::TempStorage differences;
        typename shifts::TempStorage shifts;
    } storage;
    int item[1] = {in[threadIdx.x] / 64}, flag[1], difference[1], left = -1;
    heads(storage.heads).FlagHeads(flag, item, cuda::std::not_equal_to<>());
    __syncthreads();
    differences(storage.differences).SubtractLeft(item, difference, cuda::std::minus<>());
    __syncthreads();
    shifts(storage.shifts).Offset(item[0], left, -1);
    out[threadIdx.x] = flag[0];
    out[THREADS + threadIdx.x] = difference[0];
    out[2 * THREADS + threadIdx.x] = left;
}

template <cub::BlockHistogramAlgorithm A> __global__ void histogram(const int *in, int *out)
{
    using block = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256, A>;
    __shared__ typename block::TempStorage storage;
    __shared__ int counts[256];
    unsigned char items[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        items[i] = (unsigned char)in[threadIdx.x * ITEMS + i];
    block(storage).Histogram(items, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS)
        out[i] = counts[i];
}

__global__ void warps(const int *in, int *out)
{
    using sums = cub::WarpReduce<int>;
    using scans = cub::WarpScan<int>;
    using small = cub::WarpReduce<int, 8>;
    using load = cub::WarpLoad<int, ITEMS, cub::WARP_LOAD_TRANSPOSE>;
    using store = cub::WarpStore<int, ITEMS, cub::WARP_STORE_TRANSPOSE>;
    __shared__ typename sums::TempStorage a[THREADS / 32];
    __shared__ typename scans::TempStorage b[THREADS / 32];
    __shared__ typename small::TempStorage c[THREADS / 8];
    __shared__ typename load::TempStorage d[THREADS / 32];
    __shared__ typename store::TempStorage e[THREADS / 32];
    int v = in[threadIdx.x], warp = threadIdx.x / 32, scanned, partial, items[ITEMS];
    int sum = sums(a[warp]).Sum(v);
    __syncwarp();
    int some = sums(a[warp]).Sum(v, 20);
    __syncwarp();
    int heads = sums(a[warp]).HeadSegmentedSum(v, threadIdx.x % 5 == 0);
    scans(b[warp]).InclusiveSum(v, scanned);
    __syncwarp();
    scans(b[warp]).ExclusiveScan(v, partial, 0, cuda::maximum<>());
    int eight = small(c[threadIdx.x / 8]).Sum(v);
    load(d[warp]).Load(in + warp * 32 * ITEMS, items);
    store(e[warp]).Store(out + 6 * THREADS + warp * 32 * ITEMS, items);
    out[threadIdx.x] = threadIdx.x % 32 == 0 ? sum : 0;
    out[THREADS + threadIdx.x] = threadIdx.x % 32 == 0 ? some : 0;
    out[2 * THREADS + threadIdx.x] = threadIdx.x % 32 % 5 == 0 ? heads : 0;
    out[3 * THREADS + threadIdx.x] = scanned;
    out[4 * THREADS + threadIdx.x] = partial;
    out[5 * THREADS + threadIdx.x] = threadIdx.x % 8 == 0 ? eight : 0;
}

static int *in, *out;

static int sum_to(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += in[i];
    return sum;
}

static bool sorted(const int *a, int count, int sign)
{
    bool right = true;
    for (int i = 1; i < count; i++)
        right &= (a[i] - a[i - 1]) * sign >= 0;
    return right;
}

template <cub::BlockReduceAlgorithm A> static void try_reduce(const char *name)
{
    reduce<A><<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called(name, out[0] == sum_to(THREADS));
}

template <cub::BlockScanAlgorithm A> static void try_scan(const char *name)
{
    scan<A><<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called(name, out[50] == sum_to(51) && out[THREADS] == sum_to(THREADS));
}

template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
static void try_move(const char *load, const char *store)
{
    move<L, S><<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < ALL - 3; i++)
        right &= out[i] == in[i] + 1;
    called(load, right);
    called(store, right);
}

template <cub::BlockHistogramAlgorithm A> static void try_histogram(const char *name)
{
    histogram<A><<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    int total = 0;
    for (int i = 0; i < 256; i++)
        total += out[i];
    called(name, total == ALL);
}

int main()
{
    cudaMallocManaged(&in, ALL * sizeof(int));
    cudaMallocManaged(&out, 4 * ALL * sizeof(int));
    for (int i = 0; i < ALL; i++)
        in[i] = number(i);
    try_reduce<cub::BLOCK_REDUCE_RAKING>("cub::BlockReduce raking");
    try_reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>("cub::BlockReduce warp reductions");
    try_reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>("cub::BlockReduce raking commutative");
    try_scan<cub::BLOCK_SCAN_RAKING>("cub::BlockScan raking");
    try_scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>("cub::BlockScan raking memoize");
    try_scan<cub::BLOCK_SCAN_WARP_SCANS>("cub::BlockScan warp scans");
    try_move<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>("cub::BlockLoad direct",
                                                              "cub::BlockStore direct");
    try_move<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>("cub::BlockLoad vectorize",
                                                                    "cub::BlockStore vectorize");
    try_move<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>("cub::BlockLoad transpose",
                                                                    "cub::BlockStore transpose");
    try_move<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(
        "cub::BlockLoad warp transpose", "cub::BlockStore warp transpose");
    sort<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cub::BlockRadixSort::Sort", sorted(out, ALL, 1));
    called("cub::BlockRadixSort::SortDescending", sorted(out + ALL, ALL, -1));
    merge_sort<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cub::BlockMergeSort::Sort", sorted(out, ALL, 1));
    called("cub::WarpMergeSort::Sort", sorted(out + ALL, 32 * ITEMS, 1));
    exchange<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cub::BlockExchange::StripedToBlocked", out[37] == in[37]);
    called("cub::BlockExchange::BlockedToStriped", out[ALL + 37] == in[37]);
    called("cub::WarpExchange", out[ALL + 99] == in[99]);
    flags<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cub::BlockDiscontinuity::FlagHeads", out[9] == (in[9] / 64 != in[8] / 64));
    called("cub::BlockAdjacentDifference::SubtractLeft",
           out[THREADS + 9] == in[9] / 64 - in[8] / 64);
    called("cub::BlockShuffle::Offset", out[2 * THREADS + 9] == in[8] / 64);
    try_histogram<cub::BLOCK_HISTO_ATOMIC>("cub::BlockHistogram atomic");
    try_histogram<cub::BLOCK_HISTO_SORT>("cub::BlockHistogram sort");
    warps<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cub::WarpReduce::Sum", out[0] == sum_to(32));
    called("cub::WarpReduce::Sum of some", out[THREADS] == sum_to(20));
    called("cub::WarpReduce::HeadSegmentedSum", out[2 * THREADS] == sum_to(5));
    called("cub::WarpScan::InclusiveSum", out[3 * THREADS + 30] == sum_to(31));
    called("cub::WarpScan::ExclusiveScan", out[4 * THREADS + 1] == (in[0] > 0 ? in[0] : 0));
    called("cub::WarpReduce of 8", out[5 * THREADS] == sum_to(8));
    called("cub::WarpLoad", out[6 * THREADS + 77] == in[77]);
    called("cub::WarpStore", out[6 * THREADS + 400] == in[400]);
    cudaFree(in);
    cudaFree(out);
    return wrong_calls != 0;
}
