// thrust_calls.cu: Thrust's algorithms on device vectors.
#include "calls.h"

#include <algorithm>
#include <numeric>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/mismatch.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/uninitialized_copy.h>
#include <thrust/uninitialized_fill.h>
#include <thrust/unique.h>
#include <vector>

using device = thrust::device_vector<int>;
using ints = std::vector<int>;
static const int n = 2500;

struct is_odd {
    __host__ __device__ bool operator()(int v) const { return v & 1; }
};

struct twice {
    __host__ __device__ int operator()(int v) const { return 2 * v; }
};

struct bump {
    __host__ __device__ void operator()(int &v) const { v += 1; }
};

static bool same(const device &a, const ints &b)
{
    return a.size() == b.size() && thrust::equal(a.begin(), a.end(), device(b.begin(), b.end()).begin());
}

static void reductions(const device &in, const ints &host)
{
    int sum = std::accumulate(host.begin(), host.end(), 0);
    called("thrust::reduce", thrust::reduce(in.begin(), in.end()) == sum);
    called("thrust::transform_reduce",
           thrust::transform_reduce(in.begin(), in.end(), twice(), 0, thrust::plus<int>()) == 2 * sum);
    called("thrust::inner_product",
           thrust::inner_product(in.begin(), in.end(), in.begin(), 0) ==
               std::inner_product(host.begin(), host.end(), host.begin(), 0));
    called("thrust::count", thrust::count(in.begin(), in.end(), 5) ==
                                std::count(host.begin(), host.end(), 5));
    called("thrust::count_if", thrust::count_if(in.begin(), in.end(), is_odd()) ==
                                   std::count_if(host.begin(), host.end(), is_odd()));
    called("thrust::min_element", *thrust::min_element(in.begin(), in.end()) ==
                                      *std::min_element(host.begin(), host.end()));
    called("thrust::max_element", *thrust::max_element(in.begin(), in.end()) ==
                                      *std::max_element(host.begin(), host.end()));
    auto both = thrust::minmax_element(in.begin(), in.end());
    called("thrust::minmax_element", *both.first <= *both.second);
    called("thrust::all_of", !thrust::all_of(in.begin(), in.end(), is_odd()));
    called("thrust::any_of", thrust::any_of(in.begin(), in.end(), is_odd()));
    called("thrust::none_of", !thrust::none_of(in.begin(), in.end(), is_odd()));
    called("thrust::find", *thrust::find(in.begin(), in.end(), host[777]) == host[777]);
    called("thrust::find_if", (*thrust::find_if(in.begin(), in.end(), is_odd()) & 1) == 1);
    device keys(n), unique(n), sums(n);
    for (int i = 0; i < n; i += 1)
        keys[i] = i / 9;
    auto end = thrust::reduce_by_key(keys.begin(), keys.end(), in.begin(), unique.begin(), sums.begin());
    called("thrust::reduce_by_key", end.first - unique.begin() == (n + 8) / 9 &&
                                        sums[1] == std::accumulate(host.begin() + 9, host.begin() + 18, 0));
    device other = in;
    called("thrust::equal", thrust::equal(in.begin(), in.end(), other.begin()));
    other[n - 2] += 1;
    called("thrust::mismatch",
           thrust::mismatch(in.begin(), in.end(), other.begin()).first - in.begin() == n - 2);
}

static void scans(const device &in, const ints &host)
{
    device out(n), keys(n);
    ints want(n);
    thrust::inclusive_scan(in.begin(), in.end(), out.begin());
    std::partial_sum(host.begin(), host.end(), want.begin());
    called("thrust::inclusive_scan", same(out, want));
    thrust::exclusive_scan(in.begin(), in.end(), out.begin(), 3);
    std::exclusive_scan(host.begin(), host.end(), want.begin(), 3);
    called("thrust::exclusive_scan", same(out, want));
    thrust::transform_inclusive_scan(in.begin(), in.end(), out.begin(), twice(), thrust::plus<int>());
    called("thrust::transform_inclusive_scan", out[1] == 2 * (host[0] + host[1]));
    thrust::transform_exclusive_scan(in.begin(), in.end(), out.begin(), twice(), 1, thrust::plus<int>());
    called("thrust::transform_exclusive_scan", out[1] == 1 + 2 * host[0]);
    for (int i = 0; i < n; i++)
        keys[i] = i / 50;
    thrust::inclusive_scan_by_key(keys.begin(), keys.end(), in.begin(), out.begin());
    called("thrust::inclusive_scan_by_key", out[51] == host[50] + host[51]);
    thrust::exclusive_scan_by_key(keys.begin(), keys.end(), in.begin(), out.begin());
    called("thrust::exclusive_scan_by_key", out[50] == 0 && out[51] == host[50]);
    thrust::adjacent_difference(in.begin(), in.end(), out.begin());
    called("thrust::adjacent_difference", out[9] == host[9] - host[8]);
}

static void moves(const device &in, const ints &host)
{
    device out(n), map(n), part;
    ints want(n);
    thrust::copy(in.begin(), in.end(), out.begin());
    called("thrust::copy", same(out, host));
    thrust::fill(out.begin(), out.end(), 4);
    called("thrust::fill", out[n - 1] == 4);
    thrust::sequence(map.begin(), map.end());
    called("thrust::sequence", map[100] == 100);
    thrust::reverse(map.begin(), map.end());
    called("thrust::reverse", map[0] == n - 1);
    thrust::gather(map.begin(), map.end(), in.begin(), out.begin());
    called("thrust::gather", out[0] == host[n - 1]);
    thrust::scatter(in.begin(), in.end(), map.begin(), out.begin());
    called("thrust::scatter", out[0] == host[n - 1]);
    thrust::transform(in.begin(), in.end(), out.begin(), twice());
    called("thrust::transform", out[3] == 2 * host[3]);
    thrust::transform(in.begin(), in.end(), in.begin(), out.begin(), thrust::multiplies<int>());
    called("thrust::transform of two", out[3] == host[3] * host[3]);
    thrust::for_each(out.begin(), out.end(), bump());
    called("thrust::for_each", out[3] == host[3] * host[3] + 1);
    thrust::tabulate(out.begin(), out.end(), twice());
    called("thrust::tabulate", out[30] == 60);
    out = in;
    thrust::replace(out.begin(), out.end(), host[4], -1);
    called("thrust::replace", out[4] == -1);
    thrust::replace_if(out.begin(), out.end(), is_odd(), 0);
    called("thrust::replace_if", thrust::count_if(out.begin(), out.end(), is_odd()) == 0);
    thrust::swap_ranges(out.begin(), out.begin() + 100, map.begin());
    called("thrust::swap_ranges", out[0] == n - 1);
    part.resize(n);
    auto end = thrust::copy_if(in.begin(), in.end(), part.begin(), is_odd());
    called("thrust::copy_if",
           end - part.begin() == std::count_if(host.begin(), host.end(), is_odd()));
    out = in;
    auto left = thrust::remove_if(out.begin(), out.end(), is_odd());
    called("thrust::remove_if",
           left - out.begin() == n - std::count_if(host.begin(), host.end(), is_odd()));
    out = in;
    auto middle = thrust::partition(out.begin(), out.end(), is_odd());
    called("thrust::partition",
           middle - out.begin() == std::count_if(host.begin(), host.end(), is_odd()));
    called("thrust::is_partitioned", thrust::is_partitioned(out.begin(), out.end(), is_odd()));
    out = in;
    thrust::stable_partition(out.begin(), out.end(), is_odd());
    want = host;
    std::stable_partition(want.begin(), want.end(), is_odd());
    called("thrust::stable_partition", same(out, want));
    thrust::uninitialized_fill(out.begin(), out.end(), 9);
    called("thrust::uninitialized_fill", out[17] == 9);
    thrust::uninitialized_copy(in.begin(), in.end(), out.begin());
    called("thrust::uninitialized_copy", same(out, host));
    auto zipped = thrust::make_zip_iterator(thrust::make_tuple(in.begin(), out.begin()));
    called("thrust::zip_iterator", thrust::get<1>(zipped[5]) == host[5]);
    thrust::copy(thrust::counting_iterator<int>(7), thrust::counting_iterator<int>(7 + n), out.begin());
    called("thrust::counting_iterator", out[0] == 7);
}

static void sorts(const device &in, const ints &host)
{
    device out = in, values(n), merged(2 * n), sorted;
    ints up(host);
    std::sort(up.begin(), up.end());
    thrust::sort(out.begin(), out.end());
    called("thrust::sort", same(out, up));
    sorted = out;
    called("thrust::is_sorted", thrust::is_sorted(out.begin(), out.end()));
    out = in;
    thrust::stable_sort(out.begin(), out.end(), thrust::greater<int>());
    called("thrust::stable_sort", out[0] == up[n - 1]);
    out = in;
    thrust::sequence(values.begin(), values.end());
    thrust::sort_by_key(out.begin(), out.end(), values.begin());
    called("thrust::sort_by_key", host[values[0]] == up[0]);
    out = in;
    thrust::stable_sort_by_key(out.begin(), out.end(), values.begin());
    called("thrust::stable_sort_by_key", same(out, up));
    out = sorted;
    ints unique(up);
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    auto end = thrust::unique(out.begin(), out.end());
    out.resize(end - out.begin());
    called("thrust::unique", same(out, unique));
    out.resize(n);
    called("thrust::unique_copy",
           thrust::unique_copy(sorted.begin(), sorted.end(), out.begin()) - out.begin() ==
               (int)unique.size());
    out = sorted;
    auto ends = thrust::unique_by_key(out.begin(), out.end(), values.begin());
    called("thrust::unique_by_key", ends.first - out.begin() == (int)unique.size());
    thrust::merge(sorted.begin(), sorted.end(), sorted.begin(), sorted.end(), merged.begin());
    called("thrust::merge", merged[0] == up[0] && merged[1] == up[0] &&
                                thrust::is_sorted(merged.begin(), merged.end()));
    device a(unique.begin(), unique.end()), b(unique.begin() + 100, unique.end()), sets(2 * n);
    called("thrust::set_union",
           thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), sets.begin()) - sets.begin() ==
               (int)unique.size());
    called("thrust::set_intersection",
           thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), sets.begin()) -
                   sets.begin() == (int)unique.size() - 100);
    called("thrust::set_difference",
           thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), sets.begin()) -
                   sets.begin() == 100);
    called("thrust::set_symmetric_difference",
           thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), sets.begin()) -
                   sets.begin() == 100);
    called("thrust::binary_search", thrust::binary_search(a.begin(), a.end(), unique[7]));
    called("thrust::lower_bound",
           thrust::lower_bound(a.begin(), a.end(), unique[7]) - a.begin() == 7);
    called("thrust::upper_bound",
           thrust::upper_bound(a.begin(), a.end(), unique[7]) - a.begin() == 8);
    device found(b.size());
    thrust::lower_bound(a.begin(), a.end(), b.begin(), b.end(), found.begin());
    called("thrust::lower_bound of many", found[3] == 103);
}

int main()
{
    ints host(n);
    for (int i = 0; i < n; i++)
        host[i] = number(i);
    device in(host.begin(), host.end());
    reductions(in, host);
    scans(in, host);
    moves(in, host);
    sorts(in, host);
    return wrong_calls != 0;
}
