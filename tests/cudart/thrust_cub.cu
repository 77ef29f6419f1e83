// thrust_cub.cu: algorithms of CUB and Thrust, which use much of the runtime: attributes,
// occupancy, kernels of many policies, stream-ordered allocation.
// nvcc: -std=c++17
#include "check.h"
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

int main()
{
    thrust::device_vector<int> v(5000);
    thrust::sequence(v.begin(), v.end());
    printf("sum %d\n", thrust::reduce(v.begin(), v.end()));
    thrust::inclusive_scan(v.begin(), v.end(), v.begin());
    printf("scan %d %d\n", (int)v[10], (int)v[4999]);
    thrust::sort(v.begin(), v.end(), thrust::greater<int>());
    printf("sorted %d %d\n", (int)v[0], (int)v[4999]);
    int *keys, *sorted;
    MUST(cudaMallocManaged(&keys, 4000));
    MUST(cudaMallocManaged(&sorted, 4000));
    for (int i = 0; i < 1000; i++)
        keys[i] = (i * 7919) % 1000;
    void *temporary = nullptr;
    size_t bytes = 0;
    MUST(cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, sorted, 1000));
    MUST(cudaMalloc(&temporary, bytes));
    MUST(cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, sorted, 1000));
    MUST(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 1000; i++)
        wrong += sorted[i] != i;
    printf("wrong %d\n", wrong);
}
