// Histograms: global atomics, shared atomics with a merge, one private histogram a warp, and
// aggregation of equal values inside a warp with __match_any_sync; 256 bins and 64 wide bins.

#include <cstdio>
#include <cstring>
#include <vector>

const int BINS = 256;

__global__ void global_atomics(const unsigned char *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

__global__ void shared_atomics(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}

template <int WARPS> __global__ void per_warp(const unsigned *words, int count, unsigned *bins)
{
    __shared__ unsigned local[WARPS][BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x)
        (&local[0][0])[i] = 0;
    __syncthreads();
    unsigned *mine = local[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        unsigned word = words[i];
        atomicAdd(mine + (word & 0xff), 1u);
        atomicAdd(mine + (word >> 8 & 0xff), 1u);
        atomicAdd(mine + (word >> 16 & 0xff), 1u);
        atomicAdd(mine + (word >> 24), 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += local[w][bin];
        atomicAdd(&bins[bin], sum);
    }
}

__global__ void aggregated(const unsigned char *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned active = __activemask();
        int value = data[i];
        unsigned same = __match_any_sync(active, value);
        int lane = threadIdx.x & 31;
        if (__ffs(same) - 1 == lane)
            atomicAdd(&bins[value], (unsigned)__popc(same));
        __syncwarp(active);
    }
}

__global__ void wide_bins(const unsigned char *data, int n, unsigned long long *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i] >> 2], (unsigned long long)data[i] << 20);
}

static std::vector<unsigned char> host;
static unsigned expected[BINS], *bins;

static void report(const char *name)
{
    unsigned got[BINS], total = 0, hash = 0;
    cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost);
    for (unsigned count : got) {
        total += count;
        hash = hash * 33 + count;
    }
    printf("%-14s total %u bin[0]=%u bin[100]=%u bin[255]=%u hash %08x %s\n", name, total, got[0],
           got[100], got[255], hash, memcmp(got, expected, sizeof got) ? "WRONG" : "right");
    cudaMemset(bins, 0, sizeof got);
}

int main()
{
    const int n = 60000;
    host.resize(n);
    unsigned state = 12345;
    for (auto &byte : host) {
        state = state * 1664525u + 1013904223u;
        byte = (unsigned char)((state >> 24) & (state >> 16)); // uneven on purpose
        expected[byte]++;
    }
    unsigned char *data;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, sizeof expected);
    cudaMemcpy(data, host.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof expected);
    global_atomics<<<30, 256>>>(data, n, bins);
    report("global");
    shared_atomics<<<16, 256>>>(data, n, bins);
    report("shared");
    per_warp<6><<<10, 192>>>((const unsigned *)data, n / 4, bins);
    report("per warp");
    aggregated<<<20, 128>>>(data, n, bins);
    report("aggregated");

    unsigned long long *wide, got[64];
    cudaMalloc(&wide, sizeof got);
    cudaMemset(wide, 0, sizeof got);
    wide_bins<<<(n + 511) / 512, 512>>>(data, n, wide);
    cudaMemcpy(got, wide, sizeof got, cudaMemcpyDeviceToHost);
    printf("wide %llu %llu %llu %s\n", got[0], got[20], got[63],
           cudaGetErrorString(cudaGetLastError()));
    return 0;
}
