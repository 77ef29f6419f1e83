// Thrust: vectors of host and device, fill, sequence, transform, reduce, transform_reduce, scans,
// count, find, min and max, inner_product, copy_if, remove_if, partition, unique, gather,
// scatter, iterators (counting, constant, zip, permutation, transform), saxpy with a functor,
// universal_vector.
// flags: -std=c++17 --extended-lambda
// takes: long

#include <cstdio>
#include <thrust/adjacent_difference.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const
    {
        return a * x + y;
    }
};

template <class V> static void show(const char *name, const V &v, int n = 8)
{
    printf("%s:", name);
    for (int i = 0; i < n; i++)
        printf(" %g", (double)v[i]);
    printf("\n");
}

int main()
{
    thrust::host_vector<int> h(1000);
    for (int i = 0; i < 1000; i++)
        h[i] = i * 7919 % 1000;
    thrust::device_vector<int> d = h;
    printf("size %zu, d[10]=%d\n", d.size(), (int)d[10]);
    d[10] = 4242;
    printf("sum %d max %d at %d min %d\n", thrust::reduce(d.begin(), d.end()),
           (int)*thrust::max_element(d.begin(), d.end()),
           (int)(thrust::max_element(d.begin(), d.end()) - d.begin()),
           (int)*thrust::min_element(d.begin(), d.end()));
    printf("count %d, find %d\n",
           (int)thrust::count_if(d.begin(), d.end(), [] __device__(int x) { return x % 5 == 0; }),
           (int)(thrust::find(d.begin(), d.end(), 919) - d.begin()));

    thrust::device_vector<float> x(100), y(100, 0.5f);
    thrust::sequence(x.begin(), x.end(), 1.0f, 2.0f);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy{3.0f});
    show("saxpy", thrust::host_vector<float>(y));
    printf("inner product %g\n", thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f));
    double squares = thrust::transform_reduce(
        x.begin(), x.end(), [] __host__ __device__(float v) { return (double)v * v; }, 0.0,
        thrust::plus<double>());
    printf("sum of squares %g\n", squares);

    thrust::device_vector<int> s(1000), t(1000);
    thrust::inclusive_scan(d.begin(), d.end(), s.begin());
    thrust::exclusive_scan(d.begin(), d.end(), t.begin(), 100, thrust::plus<int>());
    printf("scans: %d %d, %d %d\n", (int)s[499], (int)s[999], (int)t[0], (int)t[999]);
    thrust::adjacent_difference(s.begin(), s.end(), t.begin());
    printf("differences undo it: %s\n", t == d ? "yes" : "NO");

    auto end =
        thrust::copy_if(d.begin(), d.end(), t.begin(), [] __device__(int v) { return v < 50; });
    printf("copy_if %d, first %d\n", (int)(end - t.begin()), (int)t[0]);
    thrust::device_vector<int> r = d;
    r.erase(thrust::remove_if(r.begin(), r.end(), [] __device__(int v) { return v % 2; }), r.end());
    printf("remove_if leaves %zu, sum %d\n", r.size(), thrust::reduce(r.begin(), r.end()));
    auto middle =
        thrust::stable_partition(r.begin(), r.end(), [] __device__(int v) { return v > 500; });
    printf("partition at %d: %d %d\n", (int)(middle - r.begin()), (int)r[0], (int)*middle);
    thrust::device_vector<int> u(60);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(60),
                      u.begin(), [] __device__(int i) { return i / 7; });
    u.erase(thrust::unique(u.begin(), u.end()), u.end());
    show("unique", thrust::host_vector<int>(u), (int)u.size());

    thrust::device_vector<int> map(20);
    thrust::sequence(map.begin(), map.end(), 19, -1);
    thrust::device_vector<int> g(20);
    thrust::gather(map.begin(), map.end(), d.begin(), g.begin());
    show("gather", thrust::host_vector<int>(g));
    auto permuted = thrust::make_permutation_iterator(d.begin(), map.begin());
    printf("permuted sum %d\n", thrust::reduce(permuted, permuted + 20));
    auto zipped = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
    float dot = thrust::transform_reduce(
        zipped, zipped + 100,
        [] __host__ __device__(const thrust::tuple<float, float> &p) {
            return thrust::get<0>(p) - thrust::get<1>(p);
        },
        0.0f, thrust::plus<float>());
    printf("zip %g\n", dot);
    thrust::fill(g.begin() + 5, g.begin() + 8, -1);
    show("fill", thrust::host_vector<int>(g), 10);
    printf("constants %d\n", thrust::reduce(thrust::constant_iterator<int>(6),
                                            thrust::constant_iterator<int>(6) + 7));
    d.clear();
    d.resize(5, 9);
    d.push_back(1);
    printf("resized: %zu %d %d\n", d.size(), (int)d.front(), (int)d.back());
    int raw_sum = 0, *raw = thrust::raw_pointer_cast(d.data());
    cudaMemcpy(&raw_sum, raw, sizeof(int), cudaMemcpyDeviceToHost);
    printf("raw %d %s\n", raw_sum, cudaGetErrorName(cudaGetLastError()));
    return 0;
}
