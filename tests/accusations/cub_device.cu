// cub_device.cu: CUB's device-wide algorithms, on arrays of a few thousand elements: several tiles, the
// last one not full.
#include "calls.h"

#include <algorithm>
#include <cub/cub.cuh>
#include <map>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <vector>

using ints = std::vector<int>;
static const int n = 3000;
static thrust::device_vector<char> scratch;

/* CUB asks for scratch memory first. */
#define CUB(call, ...)                                                                             \
    do {                                                                                           \
        size_t bytes = 0;                                                                          \
        call(nullptr, bytes, __VA_ARGS__);                                                         \
        scratch.resize(bytes + 1);                                                                 \
        call((void *)scratch.data().get(), bytes, __VA_ARGS__);                                    \
        cudaDeviceSynchronize();                                                                   \
    } while (0)

struct device_ints : thrust::device_vector<int> {
    using thrust::device_vector<int>::device_vector;
    int *p() { return data().get(); }
    ints host(size_t count) { return ints(begin(), begin() + count); }
};

struct is_odd {
    __host__ __device__ bool operator()(int v) const { return v & 1; }
};

struct add_one {
    __host__ __device__ int operator()(int v) const { return v + 1; }
};

struct raise {
    __device__ void operator()(int &v) { v += 1; }
};

struct bump {
    int *a;
    __device__ void operator()(int i) { a[i] += 1; }
};

struct larger {
    __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

static void reduce(device_ints &in, const ints &host)
{
    device_ints out(2);
    CUB(cub::DeviceReduce::Sum, in.p(), out.p(), n);
    called("cub::DeviceReduce::Sum", out[0] == std::accumulate(host.begin(), host.end(), 0));
    CUB(cub::DeviceReduce::Min, in.p(), out.p(), n);
    called("cub::DeviceReduce::Min", out[0] == *std::min_element(host.begin(), host.end()));
    CUB(cub::DeviceReduce::Max, in.p(), out.p(), n);
    called("cub::DeviceReduce::Max", out[0] == *std::max_element(host.begin(), host.end()));
    CUB(cub::DeviceReduce::Reduce, in.p(), out.p(), n, larger(), -1);
    called("cub::DeviceReduce::Reduce", out[0] == *std::max_element(host.begin(), host.end()));
    CUB(cub::DeviceReduce::TransformReduce, in.p(), out.p(), n, larger(), add_one(), -1);
    called("cub::DeviceReduce::TransformReduce",
           out[0] == *std::max_element(host.begin(), host.end()) + 1);
    thrust::device_vector<cub::KeyValuePair<int, int>> pair(1);
    CUB(cub::DeviceReduce::ArgMin, in.p(), pair.data().get(), n);
    cub::KeyValuePair<int, int> least = pair[0];
    called("cub::DeviceReduce::ArgMin",
           least.key == std::min_element(host.begin(), host.end()) - host.begin());
    CUB(cub::DeviceReduce::ArgMax, in.p(), pair.data().get(), n);
    cub::KeyValuePair<int, int> most = pair[0];
    called("cub::DeviceReduce::ArgMax",
           most.key == std::max_element(host.begin(), host.end()) - host.begin());
    ints keys(n);
    for (int i = 0; i < n; i++)
        keys[i] = i / 7;
    device_ints dkeys(keys.begin(), keys.end()), unique(n), sums(n), runs(1);
    CUB(cub::DeviceReduce::ReduceByKey, dkeys.p(), unique.p(), in.p(), sums.p(), runs.p(),
        cuda::std::plus<>(), n);
    bool right = runs[0] == (n + 6) / 7;
    ints got = sums.host((n + 6) / 7);
    for (int i = 0; i < (int)got.size(); i++)
        right &= got[i] == std::accumulate(host.begin() + i * 7,
                                           host.begin() + std::min(n, i * 7 + 7), 0);
    called("cub::DeviceReduce::ReduceByKey", right);
}

static void scan(device_ints &in, const ints &host)
{
    device_ints out(n), keys(n);
    ints want(n);
    CUB(cub::DeviceScan::InclusiveSum, in.p(), out.p(), n);
    std::partial_sum(host.begin(), host.end(), want.begin());
    called("cub::DeviceScan::InclusiveSum", out.host(n) == want);
    CUB(cub::DeviceScan::ExclusiveSum, in.p(), out.p(), n);
    std::exclusive_scan(host.begin(), host.end(), want.begin(), 0);
    called("cub::DeviceScan::ExclusiveSum", out.host(n) == want);
    CUB(cub::DeviceScan::InclusiveScan, in.p(), out.p(), larger(), n);
    std::inclusive_scan(host.begin(), host.end(), want.begin(), larger());
    called("cub::DeviceScan::InclusiveScan", out.host(n) == want);
    CUB(cub::DeviceScan::ExclusiveScan, in.p(), out.p(), larger(), -5, n);
    std::exclusive_scan(host.begin(), host.end(), want.begin(), -5, larger());
    called("cub::DeviceScan::ExclusiveScan", out.host(n) == want);
    ints host_keys(n);
    for (int i = 0; i < n; i++)
        host_keys[i] = i / 100;
    keys = device_ints(host_keys.begin(), host_keys.end());
    CUB(cub::DeviceScan::InclusiveSumByKey, keys.p(), in.p(), out.p(), n);
    for (int i = 0; i < n; i++)
        want[i] = host[i] + (i % 100 ? want[i - 1] : 0);
    called("cub::DeviceScan::InclusiveSumByKey", out.host(n) == want);
    CUB(cub::DeviceScan::ExclusiveSumByKey, keys.p(), in.p(), out.p(), n);
    for (int i = 0; i < n; i++)
        want[i] = i % 100 ? want[i - 1] + host[i - 1] : 0;
    called("cub::DeviceScan::ExclusiveSumByKey", out.host(n) == want);
}

static void select(device_ints &in, const ints &host)
{
    device_ints out(n), count(1), rest(n);
    ints want;
    thrust::device_vector<char> flags(n);
    for (int i = 0; i < n; i++)
        flags[i] = i % 3 == 0;
    CUB(cub::DeviceSelect::Flagged, in.p(), flags.data().get(), out.p(), count.p(), n);
    for (int i = 0; i < n; i += 3)
        want.push_back(host[i]);
    called("cub::DeviceSelect::Flagged", count[0] == (int)want.size() && out.host(want.size()) == want);
    CUB(cub::DeviceSelect::If, in.p(), out.p(), count.p(), n, is_odd());
    want.clear();
    std::copy_if(host.begin(), host.end(), std::back_inserter(want), is_odd());
    called("cub::DeviceSelect::If", count[0] == (int)want.size() && out.host(want.size()) == want);
    CUB(cub::DevicePartition::If, in.p(), rest.p(), count.p(), n, is_odd());
    called("cub::DevicePartition::If", count[0] == (int)want.size() && rest.host(want.size()) == want);
    CUB(cub::DevicePartition::Flagged, in.p(), flags.data().get(), rest.p(), count.p(), n);
    called("cub::DevicePartition::Flagged", count[0] == (n + 2) / 3);
    ints sorted(host);
    std::sort(sorted.begin(), sorted.end());
    device_ints dsorted(sorted.begin(), sorted.end());
    want = sorted;
    want.erase(std::unique(want.begin(), want.end()), want.end());
    CUB(cub::DeviceSelect::Unique, dsorted.p(), out.p(), count.p(), n);
    called("cub::DeviceSelect::Unique", count[0] == (int)want.size() && out.host(want.size()) == want);
    CUB(cub::DeviceSelect::UniqueByKey, dsorted.p(), in.p(), out.p(), rest.p(), count.p(), n);
    called("cub::DeviceSelect::UniqueByKey",
           count[0] == (int)want.size() && out.host(want.size()) == want);
    device_ints lengths(n), offsets(n);
    CUB(cub::DeviceRunLengthEncode::Encode, dsorted.p(), out.p(), lengths.p(), count.p(), n);
    ints runs = lengths.host(want.size());
    called("cub::DeviceRunLengthEncode::Encode",
           out.host(want.size()) == want && std::accumulate(runs.begin(), runs.end(), 0) == n);
    CUB(cub::DeviceRunLengthEncode::NonTrivialRuns, dsorted.p(), offsets.p(), lengths.p(), count.p(),
        n);
    int start = 0, found = 0;
    bool right = true;
    for (int length : runs) { /* runs of one are left out */
        if (length > 1)
            right &= offsets[found] == start && lengths[found] == length;
        found += length > 1;
        start += length;
    }
    called("cub::DeviceRunLengthEncode::NonTrivialRuns", right && count[0] == found);
}

static void sort(device_ints &in, const ints &host)
{
    device_ints out(n), values(n), moved(n);
    ints up(host), down(host);
    std::sort(up.begin(), up.end());
    std::sort(down.begin(), down.end(), std::greater<int>());
    thrust::sequence(values.begin(), values.end());
    CUB(cub::DeviceRadixSort::SortKeys, in.p(), out.p(), n);
    called("cub::DeviceRadixSort::SortKeys", out.host(n) == up);
    CUB(cub::DeviceRadixSort::SortKeysDescending, in.p(), out.p(), n);
    called("cub::DeviceRadixSort::SortKeysDescending", out.host(n) == down);
    CUB(cub::DeviceRadixSort::SortPairs, in.p(), out.p(), values.p(), moved.p(), n);
    called("cub::DeviceRadixSort::SortPairs", out.host(n) == up && host[moved[0]] == up[0]);
    CUB(cub::DeviceRadixSort::SortPairsDescending, in.p(), out.p(), values.p(), moved.p(), n);
    called("cub::DeviceRadixSort::SortPairsDescending", out.host(n) == down);
    device_ints keys = in;
    CUB(cub::DeviceMergeSort::SortKeys, keys.p(), n, cuda::std::less<int>());
    called("cub::DeviceMergeSort::SortKeys", keys.host(n) == up);
    keys = in;
    CUB(cub::DeviceMergeSort::StableSortPairs, keys.p(), values.p(), n, cuda::std::less<int>());
    called("cub::DeviceMergeSort::StableSortPairs", keys.host(n) == up);
    ints bounds = {0, 10, 10, 1000, n};
    device_ints offsets(bounds.begin(), bounds.end());
    ints want(host);
    for (size_t i = 0; i + 1 < bounds.size(); i++)
        std::sort(want.begin() + bounds[i], want.begin() + bounds[i + 1]);
    CUB(cub::DeviceSegmentedRadixSort::SortKeys, in.p(), out.p(), n, 4, offsets.p(), offsets.p() + 1);
    called("cub::DeviceSegmentedRadixSort::SortKeys", out.host(n) == want);
    CUB(cub::DeviceSegmentedSort::SortKeys, in.p(), out.p(), n, 4, offsets.p(), offsets.p() + 1);
    called("cub::DeviceSegmentedSort::SortKeys", out.host(n) == want);
    device_ints sums(4);
    CUB(cub::DeviceSegmentedReduce::Sum, in.p(), sums.p(), 4, offsets.p(), offsets.p() + 1);
    called("cub::DeviceSegmentedReduce::Sum",
           sums[2] == std::accumulate(host.begin() + 10, host.begin() + 1000, 0) && sums[1] == 0);
    CUB(cub::DeviceSegmentedReduce::Max, in.p(), sums.p(), 4, offsets.p(), offsets.p() + 1);
    called("cub::DeviceSegmentedReduce::Max",
           sums[3] == *std::max_element(host.begin() + 1000, host.end()));
}

static void others(device_ints &in, const ints &host)
{
    device_ints counts(17), out(n);
    CUB(cub::DeviceHistogram::HistogramEven, in.p(), counts.p(), 17, 0, 1024, n);
    ints got = counts.host(16);
    called("cub::DeviceHistogram::HistogramEven", std::accumulate(got.begin(), got.end(), 0) == n);
    ints levels = {0, 5, 100, 2000};
    device_ints dlevels(levels.begin(), levels.end());
    CUB(cub::DeviceHistogram::HistogramRange, in.p(), counts.p(), 4, dlevels.p(), n);
    called("cub::DeviceHistogram::HistogramRange",
           counts[0] == std::count_if(host.begin(), host.end(), [](int v) { return v < 5; }));
    CUB(cub::DeviceAdjacentDifference::SubtractLeftCopy, in.p(), out.p(), n, cuda::std::minus<>());
    called("cub::DeviceAdjacentDifference::SubtractLeftCopy", out[9] == host[9] - host[8]);
    CUB(cub::DeviceAdjacentDifference::SubtractRightCopy, in.p(), out.p(), n, cuda::std::minus<>());
    called("cub::DeviceAdjacentDifference::SubtractRightCopy", out[9] == host[9] - host[10]);
    out = in;
    cub::DeviceFor::ForEachN(out.begin(), n, raise());
    called("cub::DeviceFor::ForEachN", out[77] == host[77] + 1);
    out = in;
    cub::DeviceFor::Bulk(n, bump{out.p()});
    called("cub::DeviceFor::Bulk", out[78] == host[78] + 1);
    device_ints copies(n);
    std::vector<int *> from = {in.p(), in.p() + 1000}, to = {copies.p() + 1500, copies.p()};
    std::vector<size_t> sizes = {1400 * sizeof(int), 1200 * sizeof(int)};
    thrust::device_vector<int *> dfrom(from.begin(), from.end()), dto(to.begin(), to.end());
    thrust::device_vector<size_t> dsizes(sizes.begin(), sizes.end());
    CUB(cub::DeviceMemcpy::Batched, dfrom.data().get(), dto.data().get(), dsizes.data().get(), 2);
    called("cub::DeviceMemcpy::Batched", copies[0] == host[1000] && copies[1501] == host[1]);
}

int main()
{
    ints host(n);
    for (int i = 0; i < n; i++)
        host[i] = number(i);
    device_ints in(host.begin(), host.end());
    reduce(in, host);
    scan(in, host);
    select(in, host);
    sort(in, host);
    others(in, host);
    return wrong_calls != 0;
}
