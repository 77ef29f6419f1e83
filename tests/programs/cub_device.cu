// CUB's device algorithms: DeviceReduce (sum, min, argmax, by key), DeviceScan (sum, custom, by
// key), DeviceSelect (flagged, if, unique), DevicePartition, DeviceRunLengthEncode,
// DeviceHistogram, DeviceSegmentedReduce, DeviceFor, with iterators for input.
// flags: -std=c++17
// takes: long

#include <cstdio>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

static void *storage;
static size_t storage_bytes;

// Both phases of a CUB call: ask for the size, then run.
template <class F> static void run(const char *name, F call)
{
    size_t bytes = 0;
    cudaError_t asked = call((void *)nullptr, bytes);
    if (bytes > storage_bytes) {
        cudaFree(storage);
        cudaMalloc(&storage, storage_bytes = bytes);
    }
    cudaError_t ran = call(storage, bytes);
    cudaError_t synced = cudaDeviceSynchronize();
    if (asked || ran || synced)
        printf("%s: %s %s %s\n", name, cudaGetErrorName(asked), cudaGetErrorName(ran),
               cudaGetErrorName(synced));
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

struct square {
    __host__ __device__ long long operator()(int x) const
    {
        return (long long)x * x;
    }
};
struct is_small {
    __host__ __device__ bool operator()(int x) const
    {
        return x < 30;
    }
};
struct maximum {
    __host__ __device__ int operator()(int a, int b) const
    {
        return a > b ? a : b;
    }
};

static const int n = 20000;

static void reductions(const int *in, const int *keys, int *out, int *count)
{
    long long *wide = managed<long long>(4);
    run("sum", [&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, out, n); });
    run("min", [&](void *s, size_t &b) { return cub::DeviceReduce::Min(s, b, in, out + 1, n); });
    cub::KeyValuePair<int, int> *arg = managed<cub::KeyValuePair<int, int>>(1);
    run("argmax", [&](void *s, size_t &b) {
        return cub::DeviceReduce::ArgMax(s, b, in, &arg->value, &arg->key, n);
    });
    auto squares = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), square());
    run("squares",
        [&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, squares, wide, n); });
    run("custom", [&](void *s, size_t &b) {
        return cub::DeviceReduce::Reduce(s, b, in, out + 2, n, maximum(), -1);
    });
    printf("reduce: sum %d min %d argmax %d at %d squares %lld max %d\n", out[0], out[1],
           arg->value, arg->key, wide[0], out[2]);

    int *runs = managed<int>(n), *sums = managed<int>(n);
    run("by key", [&](void *s, size_t &b) {
        return cub::DeviceReduce::ReduceByKey(s, b, keys, runs, in, sums, count, maximum(), n);
    });
    printf("reduce by key: %d runs, %d:%d ... %d:%d hash %08x\n", *count, runs[0], sums[0],
           runs[*count - 1], sums[*count - 1], hash_of(sums, *count));
}

static void scans(const int *in, const int *keys, int *out)
{
    run("inclusive",
        [&](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); });
    int sum = 0, wrong = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        wrong += out[i] != sum;
    }
    printf("inclusive sum: %d %d wrong %d\n", out[100], out[n - 1], wrong);
    run("exclusive", [&](void *s, size_t &b) {
        return cub::DeviceScan::ExclusiveScan(s, b, in, out, maximum(), -7, n);
    });
    printf("exclusive max: %d %d %d %d\n", out[0], out[100], out[12345], out[12346]);
    run("scan by key", [&](void *s, size_t &b) {
        return cub::DeviceScan::InclusiveSumByKey(s, b, keys, in, out, n);
    });
    printf("scan by key: hash %08x last %d\n", hash_of(out, n), out[n - 1]);
}

static void selections(const int *in, const int *keys, int *out, int *count)
{
    int *out2 = managed<int>(n);
    char *flags = managed<char>(n);
    for (int i = 0; i < n; i++)
        flags[i] = i % 7 == 3;
    run("flagged", [&](void *s, size_t &b) {
        return cub::DeviceSelect::Flagged(s, b, in, flags, out, count, n);
    });
    printf("flagged: %d hash %08x\n", *count, hash_of(out, *count));
    run("if", [&](void *s, size_t &b) {
        return cub::DeviceSelect::If(s, b, in, out, count, n, is_small());
    });
    printf("if: %d hash %08x\n", *count, hash_of(out, *count));
    run("unique",
        [&](void *s, size_t &b) { return cub::DeviceSelect::Unique(s, b, keys, out, count, n); });
    printf("unique: %d hash %08x\n", *count, hash_of(out, *count));
    run("partition", [&](void *s, size_t &b) {
        return cub::DevicePartition::If(s, b, in, out, count, n, is_small());
    });
    printf("partition: %d hash %08x\n", *count, hash_of(out, n));
    run("run lengths", [&](void *s, size_t &b) {
        return cub::DeviceRunLengthEncode::Encode(s, b, keys, out, out2, count, n);
    });
    printf("run lengths: %d, %d x %d, last %d x %d, hash %08x\n", *count, out[0], out2[0],
           out[*count - 1], out2[*count - 1], hash_of(out2, *count));
}

static void histograms_and_segments(const int *in, int *out)
{
    int *bins = managed<int>(64);
    run("even", [&](void *s, size_t &b) {
        return cub::DeviceHistogram::HistogramEven(s, b, in, bins, 11, 0, 1000, n);
    });
    printf("histogram:");
    for (int i = 0; i < 10; i++)
        printf(" %d", bins[i]);
    int *levels = managed<int>(5);
    const int limits[] = {0, 10, 100, 500, 6000};
    for (int i = 0; i < 5; i++)
        levels[i] = limits[i];
    run("range", [&](void *s, size_t &b) {
        return cub::DeviceHistogram::HistogramRange(s, b, in, bins, 5, levels, n);
    });
    printf("\nranges: %d %d %d %d\n", bins[0], bins[1], bins[2], bins[3]);

    int *offsets = managed<int>(51);
    for (int i = 0; i <= 50; i++)
        offsets[i] = i * i * 8;
    run("segments", [&](void *s, size_t &b) {
        return cub::DeviceSegmentedReduce::Sum(s, b, in, out, 50, offsets, offsets + 1);
    });
    printf("segments: %d %d %d hash %08x\n", out[0], out[1], out[49], hash_of(out, 50));
}

int main()
{
    int *in = managed<int>(n), *out = managed<int>(n), *count = managed<int>(4),
        *keys = managed<int>(n);
    for (int i = 0; i < n; i++) {
        in[i] = (int)((unsigned)i * 2654435761u >> 20) % 1000;
        keys[i] = i / 37 + i / 1000;
    }
    in[12345] = 5000;

    reductions(in, keys, out, count);
    scans(in, keys, out);
    selections(in, keys, out, count);
    histograms_and_segments(in, out);
    return 0;
}
