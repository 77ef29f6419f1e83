// Prefix sums: Hillis-Steele with double buffering, Blelloch up- and down-sweep with padding,
// warp-shuffle scan, and the three-pass scan of a long array (block scan, scan of sums, add back).

#include <cstdio>
#include <vector>

#define BANKS_OFFSET(i) ((i) >> 5)

__global__ void hillis_steele(const int *in, int *out, int n)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, from = 0, to = 1;
    buffer[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int offset = 1; offset < (int)blockDim.x; offset *= 2) {
        int value = buffer[from * blockDim.x + t];
        if (t >= offset)
            value += buffer[from * blockDim.x + t - offset];
        buffer[to * blockDim.x + t] = value;
        from = to;
        to = 1 - to;
        __syncthreads();
    }
    if (t < n)
        out[t] = buffer[from * blockDim.x + t];
}

__global__ void blelloch(const int *in, int *out, int *sums, int n)
{
    extern __shared__ int data[];
    int t = threadIdx.x, size = 2 * blockDim.x, base = blockIdx.x * size;
    int a = t, b = t + blockDim.x;
    data[a + BANKS_OFFSET(a)] = base + a < n ? in[base + a] : 0;
    data[b + BANKS_OFFSET(b)] = base + b < n ? in[base + b] : 0;
    int offset = 1;
    for (int d = size >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            data[j + BANKS_OFFSET(j)] += data[i + BANKS_OFFSET(i)];
        }
        offset *= 2;
    }
    if (t == 0) {
        int last = size - 1;
        if (sums)
            sums[blockIdx.x] = data[last + BANKS_OFFSET(last)];
        data[last + BANKS_OFFSET(last)] = 0;
    }
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            int old = data[i + BANKS_OFFSET(i)];
            data[i + BANKS_OFFSET(i)] = data[j + BANKS_OFFSET(j)];
            data[j + BANKS_OFFSET(j)] += old;
        }
    }
    __syncthreads();
    if (base + a < n)
        out[base + a] = data[a + BANKS_OFFSET(a)];
    if (base + b < n)
        out[base + b] = data[b + BANKS_OFFSET(b)];
}

__global__ void add_sums(int *out, const int *sums, int per_block, int n)
{
    int add = sums[blockIdx.x];
    for (int i = threadIdx.x; i < per_block; i += blockDim.x)
        if (blockIdx.x * per_block + i < n)
            out[blockIdx.x * per_block + i] += add;
}

__global__ void shuffle_scan(const int *in, int *out, int n)
{
    __shared__ int warp_sums[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int value = t < n ? in[t] : 0;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d)
            value += other;
    }
    if (lane == 31)
        warp_sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < (int)blockDim.x / 32 ? warp_sums[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d)
                sum += other;
        }
        warp_sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0)
        value += warp_sums[warp - 1];
    if (t < n)
        out[t] = value;
}

static void check(const char *name, const std::vector<int> &in, const int *device, bool inclusive)
{
    std::vector<int> out(in.size());
    cudaMemcpy(out.data(), device, in.size() * 4, cudaMemcpyDeviceToHost);
    int sum = 0, wrong = 0;
    unsigned hash = 17;
    for (size_t i = 0; i < in.size(); i++) {
        int before = sum;
        sum += in[i];
        wrong += out[i] != (inclusive ? sum : before);
        hash = hash * 31 + (unsigned)out[i];
    }
    printf("%-14s n=%zu out[0]=%d out[n/2]=%d out[n-1]=%d hash %08x wrong %d\n", name, in.size(),
           out[0], out[in.size() / 2], out.back(), hash, wrong);
}

int main()
{
    const int n = 50000;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 37 % 101 - 40;
    int *in, *out, *sums, *sums_scanned;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&sums, 1024 * 4);
    cudaMalloc(&sums_scanned, 1024 * 4);
    cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);

    std::vector<int> small(host.begin(), host.begin() + 1000);
    hillis_steele<<<1, 1024, 2 * 1024 * 4>>>(in, out, 1000);
    check("hillis-steele", small, out, true);
    blelloch<<<1, 512, (1024 + 32) * 4>>>(in, out, nullptr, 1000);
    check("blelloch", small, out, false);
    shuffle_scan<<<1, 1024>>>(in, out, 1000);
    check("shuffle", small, out, true);

    const int per_block = 256;
    int blocks = (n + per_block - 1) / per_block;
    blelloch<<<blocks, per_block / 2, (per_block + per_block / 32) * 4>>>(in, out, sums, n);
    blelloch<<<1, 512, (1024 + 32) * 4>>>(sums, sums_scanned, nullptr, blocks);
    add_sums<<<blocks, 128>>>(out, sums_scanned, per_block, n);
    check("three pass", host, out, false);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
