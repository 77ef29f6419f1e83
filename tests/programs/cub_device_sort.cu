// CUB's device sorts: DeviceRadixSort of keys and pairs, ascending and descending, some bits only,
// of signed, float and 64-bit keys, with a double buffer; DeviceMergeSort; segmented radix sort.
// flags: -std=c++17 --extended-lambda
// takes: long

#include <algorithm>
#include <cstdio>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <vector>

template <class F> static void run(const char *name, F call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    cudaError_t asked = call(storage, bytes);
    cudaMalloc(&storage, bytes);
    cudaError_t ran = call(storage, bytes), synced = cudaDeviceSynchronize();
    if (asked || ran || synced)
        printf("%s: %s %s %s\n", name, cudaGetErrorName(asked), cudaGetErrorName(ran),
               cudaGetErrorName(synced));
    cudaFree(storage);
}

template <class T> static T *managed(int n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    return p;
}

template <class T, class Less> static const char *sorted(const T *v, int n, Less less)
{
    return std::is_sorted(v, v + n, less) ? "sorted" : "WRONG";
}

static const int n = 10000;

static void sort_pairs(const unsigned *keys, unsigned *out, const int *values, int *order)
{
    run("pairs", [&](void *s, size_t &b) {
        return cub::DeviceRadixSort::SortPairs(s, b, keys, out, values, order, n);
    });
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += keys[order[i]] != out[i];
    printf("pairs: %u %u order %d %d %s wrong %d\n", out[0], out[n - 1], order[0], order[n - 1],
           sorted(out, n, std::less<unsigned>()), wrong);

    run("bits", [&](void *s, size_t &b) {
        return cub::DeviceRadixSort::SortPairsDescending(s, b, keys, out, values, order, n, 8, 16);
    });
    auto byte = [&](unsigned k) { return k >> 8 & 255; };
    wrong = 0; // stable, descending in bits 8 to 15
    for (int i = 1; i < n; i++)
        wrong += byte(out[i - 1]) < byte(out[i]) ||
                 (byte(out[i - 1]) == byte(out[i]) && order[i - 1] > order[i]);
    printf("bits 8 to 16, descending: %08x %08x wrong %d\n", out[0], out[n - 1], wrong);
}

static void sort_types(const unsigned *keys)
{
    float *floats = managed<float>(n), *floats_out = managed<float>(n);
    for (int i = 0; i < n; i++)
        floats[i] = (float)((int)keys[i] / 1000) / 64.0f;
    floats[17] = -0.0f;
    floats[18] = 0.0f;
    run("floats", [&](void *s, size_t &b) {
        return cub::DeviceRadixSort::SortKeys(s, b, floats, floats_out, n);
    });
    printf("floats: %g %g %s\n", floats_out[0], floats_out[n - 1],
           sorted(floats_out, n, std::less<float>()));

    long long *wide = managed<long long>(n), *wide_out = managed<long long>(n);
    for (int i = 0; i < n; i++)
        wide[i] = (long long)(((unsigned long long)keys[i] << 32) | keys[n - 1 - i]);
    cub::DoubleBuffer<long long> buffer(wide, wide_out);
    run("double buffer", [&](void *s, size_t &b) {
        return cub::DeviceRadixSort::SortKeysDescending(s, b, buffer, n);
    });
    printf("64 bits: %lld %lld %s\n", buffer.Current()[0], buffer.Current()[n - 1],
           sorted(buffer.Current(), n, std::greater<long long>()));

    short *shorts = managed<short>(n), *shorts_out = managed<short>(n);
    for (int i = 0; i < n; i++)
        shorts[i] = (short)keys[i];
    run("shorts", [&](void *s, size_t &b) {
        return cub::DeviceRadixSort::SortKeys(s, b, shorts, shorts_out, n);
    });
    printf("shorts: %d %d %s\n", shorts_out[0], shorts_out[n - 1],
           sorted(shorts_out, n, std::less<short>()));
}

static void merge_and_segments(const unsigned *keys, unsigned *out)
{
    auto by_last_digit = [] __host__ __device__(unsigned a, unsigned b) { return a % 10 < b % 10; };
    std::copy(keys, keys + 3000, out);
    run("merge", [&](void *s, size_t &b) {
        return cub::DeviceMergeSort::StableSortKeys(s, b, out, 3000, by_last_digit);
    });
    std::vector<unsigned> expected(keys, keys + 3000);
    std::stable_sort(expected.begin(), expected.end(), by_last_digit);
    printf("merge: %u %u %s\n", out[0], out[2999],
           std::equal(expected.begin(), expected.end(), out) ? "stable" : "WRONG");

    int *offsets = managed<int>(21);
    for (int i = 0; i <= 20; i++)
        offsets[i] = i * i * 20;
    run("segmented", [&](void *s, size_t &b) {
        return cub::DeviceSegmentedRadixSort::SortKeys(s, b, keys, out, 8000, 20, offsets,
                                                       offsets + 1);
    });
    int wrong = 0;
    for (int i = 0; i < 20; i++)
        wrong += !std::is_sorted(out + offsets[i], out + offsets[i + 1]);
    printf("segmented: %u %u wrong %d\n", out[0], out[7999], wrong);
}

int main()
{
    unsigned *keys = managed<unsigned>(n), *out = managed<unsigned>(n);
    int *values = managed<int>(n), *order = managed<int>(n);
    unsigned x = 123456789;
    for (int i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        keys[i] = x;
        values[i] = i;
    }
    sort_pairs(keys, out, values, order);
    sort_types(keys);
    merge_and_segments(keys, out);
    return 0;
}
