/*
 * beside_cub.cu: warm public calls beside CUB's in a plain stream, on a GPU: microseconds a call.
 * A sample queues CALLS calls one behind the other and waits for the last, so it shows whichever is
 * slower, the host or the GPU; ours and CUB's samples alternate, and medians are printed. Results
 * of both are compared once, before anything is timed.
 *
 *   make bench-cub, or build/bench/calls/beside_cub [LARGEST]
 */
#include "lockstep.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

enum { CALLS = 200, SAMPLES = 15, BINS = 256 };

static float *x, *y, *ours, *theirs;
static char *work_ours, *work_theirs;
static size_t work_bytes;
static cudaStream_t stream;

static void must(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "beside_cub: %s: %d, %s\n", what, status, lk_last_error());
        exit(1);
    }
}

struct Add {
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};
struct Greater {
    __device__ bool operator()(float a) const
    {
        return a > 0.5f;
    }
};

struct Pair {
    const char *name;
    std::function<void(int64_t n)> lockstep, cub;
    std::function<size_t(int64_t n)> results; /* floats that both must agree on */
};

static void sum_ours(int64_t n)
{
    must(lk_reduce_sum_f32(stream, x, n, ours, work_ours, work_bytes), "reduce_sum_f32");
}

static void sum_cub(int64_t n)
{
    size_t bytes = work_bytes;
    must(cub::DeviceReduce::Sum(work_theirs, bytes, x, theirs, (int)n, stream), "DeviceReduce");
}

static void scan_ours(int64_t n)
{
    must(lk_scan_inclusive_f32(stream, x, n, ours, work_ours, work_bytes), "scan_inclusive_f32");
}

static void scan_cub(int64_t n)
{
    size_t bytes = work_bytes;
    must(cub::DeviceScan::InclusiveSum(work_theirs, bytes, x, theirs, (int)n, stream),
         "DeviceScan");
}

static void add_ours(int64_t n)
{
    must(lk_add_f32(stream, x, y, n, ours), "add_f32");
}

static void add_cub(int64_t n)
{
    must(
        cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), theirs, (int)n, Add{}, stream),
        "DeviceTransform");
}

/* Counts come behind the selected numbers. */
static int64_t select_most;

static void select_ours(int64_t n)
{
    must(lk_select_greater_f32(stream, x, n, 0.5f, ours, (int64_t *)(ours + select_most), work_ours,
                               work_bytes),
         "select_greater_f32");
}

static void select_cub(int64_t n)
{
    size_t bytes = work_bytes;
    must(cub::DeviceSelect::If(work_theirs, bytes, x, theirs, (int64_t *)(theirs + select_most),
                               (int)n, Greater{}, stream),
         "DeviceSelect");
}

static void histogram_ours(int64_t n)
{
    must(lk_histogram_f32(stream, x, n, BINS, (uint32_t *)ours, work_ours, work_bytes),
         "histogram_f32");
}

static void histogram_cub(int64_t n)
{
    size_t bytes = work_bytes;
    must(cub::DeviceHistogram::HistogramEven(work_theirs, bytes, x, (unsigned *)theirs, BINS + 1,
                                             0.0f, 1.0f, (int)n, stream),
         "DeviceHistogram");
}

static double sample(const std::function<void(int64_t)> &call, int64_t n, double *queue)
{
    using clock = std::chrono::steady_clock;
    must(cudaStreamSynchronize(stream), "waiting");
    auto begin = clock::now();
    for (int i = 0; i < CALLS; i++)
        call(n);
    auto queued = clock::now();
    must(cudaStreamSynchronize(stream), "waiting");
    auto end = clock::now();
    *queue = std::chrono::duration<double, std::micro>(queued - begin).count() / CALLS;
    return std::chrono::duration<double, std::micro>(end - begin).count() / CALLS;
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* Sums in another order differ by rounding. */
static void compare(const Pair &pair, int64_t n)
{
    size_t count = pair.results(n);
    std::vector<float> a(count), b(count);
    must(cudaMemsetAsync(ours, 0xff, count * 4, stream), "poisoning");
    must(cudaMemsetAsync(theirs, 0xff, count * 4, stream), "poisoning");
    pair.lockstep(n);
    pair.cub(n);
    must(cudaStreamSynchronize(stream), "waiting");
    must(cudaMemcpy(a.data(), ours, count * 4, cudaMemcpyDefault), "copying");
    must(cudaMemcpy(b.data(), theirs, count * 4, cudaMemcpyDefault), "copying");
    for (size_t i = 0; i < count; i++)
        if (!(a[i] == b[i] || std::abs(a[i] - b[i]) <= 1e-4f * std::abs(b[i]))) {
            fprintf(stderr, "beside_cub: %s of %lld differs at %zu: %g, CUB %g\n", pair.name,
                    (long long)n, i, a[i], b[i]);
            exit(1);
        }
}

static void bench(const Pair &pair, int64_t n)
{
    std::vector<double> us[2], queue[2];
    compare(pair, n);
    for (int i = 0; i < SAMPLES + 2; i++) /* two to warm up */
        for (int k = 0; k < 2; k++) {
            double host, all = sample(k ? pair.cub : pair.lockstep, n, &host);
            if (i >= 2) {
                us[k].push_back(all);
                queue[k].push_back(host);
            }
        }
    double a = median(us[0]), b = median(us[1]);
    printf("%-20s %10lld %8.2f %8.2f %8.2f %8.2f %7.2fx\n", pair.name, (long long)n, a, b,
           median(queue[0]), median(queue[1]), b / a);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int64_t most = argc > 1 ? atoll(argv[1]) : 1 << 24;
    select_most = (most + 1) & ~INT64_C(1);
    work_bytes = (size_t)most * 8 + (64 << 20);
    must(cudaStreamCreate(&stream), "a stream");
    for (float **buffer : {&x, &y, &ours, &theirs})
        must(cudaMalloc(buffer, (size_t)most * 4 + 4096), "memory");
    must(cudaMalloc(&work_ours, work_bytes), "memory");
    must(cudaMalloc(&work_theirs, work_bytes), "memory");
    std::vector<float> host((size_t)most);
    unsigned state = 1;
    for (float &value : host)
        value = (float)((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    must(cudaMemcpy(x, host.data(), (size_t)most * 4, cudaMemcpyDefault), "copying");
    must(cudaMemcpy(y, host.data(), (size_t)most * 4, cudaMemcpyDefault), "copying");
    auto all = [](int64_t n) { return (size_t)n; };
    const Pair pairs[] = {
        {"add_f32", add_ours, add_cub, all},
        {"reduce_sum_f32", sum_ours, sum_cub, [](int64_t) { return (size_t)1; }},
        {"scan_inclusive_f32", scan_ours, scan_cub, all},
        {"select_greater_f32", select_ours, select_cub, [](int64_t n) { return (size_t)n / 4; }},
        {"histogram_f32", histogram_ours, histogram_cub, [](int64_t) { return (size_t)BINS; }},
    };
    printf("%-20s %10s %8s %8s %8s %8s %8s\n", "us a call", "n", "lockstep", "CUB", "queueing",
           "CUB", "CUB/ours");
    for (const Pair &pair : pairs)
        for (int64_t n = 1 << 10; n <= most; n *= n < 1 << 20 ? 4 : 16)
            bench(pair, n);
    return 0;
}
