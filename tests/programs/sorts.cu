// Three sorts by hand: bitonic (in shared memory, and across blocks by global steps), least
// significant digit radix sort of key-value pairs, and merge sort by merge path. Against std::sort.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

// Bitonic ------------------------------------------------------------------------------------

__global__ void bitonic_shared(unsigned *data)
{
    extern __shared__ unsigned s[];
    unsigned n = blockDim.x, t = threadIdx.x;
    data += blockIdx.x * n;
    s[t] = data[t];
    __syncthreads();
    for (unsigned k = 2; k <= n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned other = t ^ j;
            if (other > t) {
                bool up = ((blockIdx.x * n + t) & k) == 0;
                unsigned a = s[t], b = s[other];
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
            __syncthreads();
        }
    data[t] = s[t];
}

__global__ void bitonic_step(unsigned *data, unsigned j, unsigned k)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other <= i)
        return;
    if ((i & k) == 0 ? data[i] > data[other] : data[i] < data[other]) {
        unsigned swap = data[i];
        data[i] = data[other];
        data[other] = swap;
    }
}

// Radix, 4 bits a pass -----------------------------------------------------------------------

const int RADIX = 16, TILE = 256;

__global__ void count_digits(const unsigned *keys, unsigned *counts, int n, int shift, int tiles)
{
    __shared__ unsigned local[RADIX];
    if (threadIdx.x < RADIX)
        local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n)
        atomicAdd(&local[keys[i] >> shift & (RADIX - 1)], 1);
    __syncthreads();
    if (threadIdx.x < RADIX)
        counts[threadIdx.x * tiles + blockIdx.x] = local[threadIdx.x];
}

__global__ void scan_counts(unsigned *counts, int n)
{
    __shared__ unsigned sums[1024];
    unsigned carry = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        unsigned value = i < n ? counts[i] : 0;
        sums[threadIdx.x] = value;
        __syncthreads();
        for (unsigned d = 1; d < blockDim.x; d *= 2) {
            unsigned add = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
            __syncthreads();
            sums[threadIdx.x] += add;
            __syncthreads();
        }
        if (i < n)
            counts[i] = carry + sums[threadIdx.x] - value;
        carry += sums[blockDim.x - 1];
        __syncthreads();
    }
}

__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                        unsigned *values_out, const unsigned *counts, int n, int shift, int tiles)
{
    __shared__ unsigned warp_counts[TILE / 32][RADIX];
    int i = blockIdx.x * TILE + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane < RADIX)
        warp_counts[warp][lane] = 0;
    __syncwarp();
    bool valid = i < n;
    unsigned key = valid ? keys[i] : 0;
    unsigned digit = valid ? key >> shift & (RADIX - 1) : RADIX;
    unsigned same = __match_any_sync(0xffffffffu, digit);
    unsigned below = same & ((1u << lane) - 1);
    if (valid && below == 0)
        warp_counts[warp][digit] = __popc(same);
    __syncthreads();
    if (!valid)
        return;
    unsigned rank = __popc(below);
    for (int w = 0; w < warp; w++)
        rank += warp_counts[w][digit];
    unsigned to = counts[digit * tiles + blockIdx.x] + rank;
    keys_out[to] = key;
    values_out[to] = values[i];
}

// Merge sort by merge path -------------------------------------------------------------------

__device__ int merge_path(const int *a, int na, const int *b, int nb, int diagonal)
{
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[diagonal - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

__global__ void merge_pass(const int *in, int *out, int n, int width, int per_thread)
{
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
    if (begin >= n)
        return;
    for (int k = begin; k < min(begin + per_thread, n);) {
        int pair = k / (2 * width) * (2 * width);
        int na = min(width, n - pair), nb = max(0, min(width, n - pair - width));
        const int *a = in + pair, *b = a + na;
        int end = min(min(begin + per_thread, n), pair + na + nb);
        int ia = merge_path(a, na, b, nb, k - pair), ib = k - pair - ia;
        for (; k < end; k++)
            out[k] = ib >= nb || (ia < na && a[ia] <= b[ib]) ? a[ia++] : b[ib++];
    }
}

template <class T> static unsigned hash_of(const std::vector<T> &values)
{
    unsigned hash = 5381;
    for (T value : values)
        hash = hash * 33 ^ (unsigned)value;
    return hash;
}

int main()
{
    const int n = 8192;
    std::vector<unsigned> keys(n), sorted, out(n);
    unsigned x = 2463534242u;
    for (auto &key : keys) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        key = x;
    }
    sorted = keys;
    std::sort(sorted.begin(), sorted.end());

    unsigned *a, *b, *va, *vb, *counts;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&va, n * 4);
    cudaMalloc(&vb, n * 4);

    cudaMemcpy(a, keys.data(), n * 4, cudaMemcpyHostToDevice);
    bitonic_shared<<<n / 512, 512, 512 * 4>>>(a);
    for (unsigned k = 1024; k <= (unsigned)n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1)
            bitonic_step<<<n / 256, 256>>>(a, j, k);
    cudaMemcpy(out.data(), a, n * 4, cudaMemcpyDeviceToHost);
    printf("bitonic: first %u last %u hash %08x %s\n", out[0], out[n - 1], hash_of(out),
           out == sorted ? "sorted" : "WRONG");

    const int count = 5000, tiles = (count + TILE - 1) / TILE;
    std::vector<unsigned> index(count), order(count);
    std::iota(index.begin(), index.end(), 0u);
    std::vector<unsigned> few(count); // many equal keys: stability shows
    for (int i = 0; i < count; i++)
        few[i] = keys[i] % 97 * 0x01010101u;
    cudaMalloc(&counts, RADIX * tiles * 4);
    cudaMemcpy(a, few.data(), count * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(va, index.data(), count * 4, cudaMemcpyHostToDevice);
    for (int shift = 0; shift < 32; shift += 4) {
        count_digits<<<tiles, TILE>>>(a, counts, count, shift, tiles);
        scan_counts<<<1, 512>>>(counts, RADIX * tiles);
        scatter<<<tiles, TILE>>>(a, va, b, vb, counts, count, shift, tiles);
        std::swap(a, b);
        std::swap(va, vb);
    }
    cudaMemcpy(order.data(), va, count * 4, cudaMemcpyDeviceToHost);
    std::stable_sort(index.begin(), index.end(),
                     [&](unsigned l, unsigned r) { return few[l] < few[r]; });
    printf("radix: order[0]=%u order[2500]=%u order[4999]=%u hash %08x %s\n", order[0], order[2500],
           order[4999], hash_of(order), order == index ? "stable" : "WRONG");

    std::vector<int> numbers(6001), merged(6001);
    for (size_t i = 0; i < numbers.size(); i++)
        numbers[i] = (int)keys[i] / 1000;
    int *from = (int *)a, *to = (int *)b;
    cudaMemcpy(from, numbers.data(), numbers.size() * 4, cudaMemcpyHostToDevice);
    for (int width = 1; width < 6001; width *= 2) {
        merge_pass<<<(6001 + 16 * 64 - 1) / (16 * 64), 64>>>(from, to, 6001, width, 16);
        std::swap(from, to);
    }
    cudaMemcpy(merged.data(), from, merged.size() * 4, cudaMemcpyDeviceToHost);
    std::sort(numbers.begin(), numbers.end());
    printf("merge: first %d middle %d last %d hash %08x %s\n", merged[0], merged[3000],
           merged[6000], hash_of(merged), merged == numbers ? "sorted" : "WRONG");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
