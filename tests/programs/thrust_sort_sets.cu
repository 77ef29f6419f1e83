// Thrust's ordered algorithms: sort, stable_sort by a comparison, sort_by_key, sort of structs and
// of zipped pairs, reduce_by_key (word counts), merge, binary search, set union, intersection and
// difference, scan by key, lexicographic maximum; in a stream by execution policy.
// flags: -std=c++17 --extended-lambda
// takes: long

#include <algorithm>
#include <cstdio>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>

template <class V> static unsigned hash_of(const V &v)
{
    unsigned hash = 0;
    for (size_t i = 0; i < v.size(); i++)
        hash = hash * 31 + (unsigned)v[i];
    return hash;
}

struct particle {
    int cell;
    float energy;
};

static const int n = 5000;

static void sort_numbers(const thrust::host_vector<int> &h)
{
    thrust::device_vector<int> d = h;
    thrust::sort(d.begin(), d.end());
    thrust::host_vector<int> sorted = d, reference = h;
    std::sort(reference.begin(), reference.end());
    printf("sort: %d %d %s\n", sorted[0], sorted[n - 1], sorted == reference ? "right" : "WRONG");
    thrust::sort(d.begin(), d.end(), thrust::greater<int>());
    printf("descending: %d %d\n", (int)d[0], (int)d[n - 1]);
    d = h;
    thrust::stable_sort(d.begin(), d.end(),
                        [] __host__ __device__(int a, int b) { return a % 100 < b % 100; });
    reference = h;
    std::stable_sort(reference.begin(), reference.end(),
                     [](int a, int b) { return a % 100 < b % 100; });
    sorted = d;
    printf("stable by comparison: %d %d %s\n", sorted[0], sorted[n - 1],
           sorted == reference ? "right" : "WRONG");

    thrust::device_vector<int> keys = h, values(n);
    thrust::sequence(values.begin(), values.end());
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    thrust::sort_by_key(thrust::cuda::par.on(stream), keys.begin(), keys.end(), values.begin());
    cudaStreamSynchronize(stream);
    printf("by key: %d from %d, hash %08x\n", (int)keys[0], (int)values[0],
           hash_of(thrust::host_vector<int>(values)));
}

static void sort_structs()
{
    thrust::device_vector<particle> p(300);
    for (int i = 0; i < 300; i++)
        p[i] = particle{i * 17 % 10, (float)(i * 31 % 64)};
    thrust::sort(p.begin(), p.end(), [] __host__ __device__(const particle &a, const particle &b) {
        return a.cell != b.cell ? a.cell < b.cell : a.energy > b.energy;
    });
    particle first = p[0], last = p[299];
    printf("structs: %d %g ... %d %g\n", first.cell, first.energy, last.cell, last.energy);
}

static void count_words(const thrust::host_vector<int> &h)
{
    // Word counts: sort, then reduce by key.
    thrust::device_vector<int> words(1000), ones(1000, 1), kinds(1000), counts(1000);
    for (int i = 0; i < 1000; i++)
        words[i] = h[i] % 23;
    thrust::sort(words.begin(), words.end());
    auto ends = thrust::reduce_by_key(words.begin(), words.end(), ones.begin(), kinds.begin(),
                                      counts.begin());
    int distinct = (int)(ends.first - kinds.begin());
    printf("words: %d kinds,", distinct);
    for (int i = 0; i < distinct; i += 6)
        printf(" %d:%d", (int)kinds[i], (int)counts[i]);
    printf("\n");
    thrust::inclusive_scan_by_key(words.begin(), words.end(), ones.begin(), ones.begin());
    printf("scan by key: hash %08x\n", hash_of(thrust::host_vector<int>(ones)));
}

static void sets()
{
    thrust::device_vector<int> a(50), b(40), c(90);
    for (int i = 0; i < 50; i++)
        a[i] = i * 3;
    for (int i = 0; i < 40; i++)
        b[i] = i * 4;
    thrust::merge(a.begin(), a.end(), b.begin(), b.end(), c.begin());
    printf("merge: %d %d %d hash %08x\n", (int)c[1], (int)c[45], (int)c[89],
           hash_of(thrust::host_vector<int>(c)));
    auto both = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin());
    printf("intersection: %d,", (int)(both - c.begin()));
    auto all = thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), c.begin());
    printf(" union: %d,", (int)(all - c.begin()));
    auto only = thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), c.begin());
    printf(" difference: %d, last %d\n", (int)(only - c.begin()), (int)*(only - 1));
    thrust::device_vector<int> wanted(3), where(3);
    wanted[0] = 30, wanted[1] = 31, wanted[2] = 500;
    thrust::lower_bound(a.begin(), a.end(), wanted.begin(), wanted.end(), where.begin());
    printf("lower bounds: %d %d %d, has 33: %d\n", (int)where[0], (int)where[1], (int)where[2],
           (int)thrust::binary_search(a.begin(), a.end(), 33));
}

static void sort_zipped()
{
    thrust::device_vector<int> major(100), minor(100);
    for (int i = 0; i < 100; i++)
        major[i] = i % 4, minor[i] = 100 - i;
    auto zipped = thrust::make_zip_iterator(thrust::make_tuple(major.begin(), minor.begin()));
    thrust::sort(zipped, zipped + 100);
    printf("zipped: %d %d, %d %d %s\n", (int)major[0], (int)minor[0], (int)major[99],
           (int)minor[99], cudaGetErrorName(cudaGetLastError()));
}

int main()
{
    thrust::host_vector<int> h(n);
    unsigned x = 2024;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        h[i] = (int)(x >> 8) % 100000;
    }
    sort_numbers(h);
    sort_structs();
    count_words(h);
    sets();
    sort_zipped();
    return 0;
}
