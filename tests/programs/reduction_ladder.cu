// The reduction ladder, seven kernels: interleaved with divergence, strided, sequential, first add
// on load, last warp unrolled (volatile with __syncwarp), completely unrolled by template, several
// elements a thread; then warp shuffles, atomics with a last-block finish, and cooperative groups.
// flags: -std=c++17
// takes: long

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void reduce0(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    data[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__global__ void reduce1(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    data[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * t;
        if (index < blockDim.x)
            data[index] += data[index + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__global__ void reduce2(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    data[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__global__ void reduce3(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    data[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__device__ void warp_reduce(volatile int *data, unsigned t)
{
    int v = data[t];
    v += data[t + 32], __syncwarp();
    data[t] = v, __syncwarp();
    v += data[t + 16], __syncwarp();
    data[t] = v, __syncwarp();
    v += data[t + 8], __syncwarp();
    data[t] = v, __syncwarp();
    v += data[t + 4], __syncwarp();
    data[t] = v, __syncwarp();
    v += data[t + 2], __syncwarp();
    data[t] = v, __syncwarp();
    v += data[t + 1], __syncwarp();
    data[t] = v;
}

__global__ void reduce4(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    data[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (t < s)
            data[t] += data[t + s];
        __syncthreads();
    }
    if (t < 32)
        warp_reduce(data, t);
    if (t == 0)
        out[blockIdx.x] = data[0];
}

template <unsigned SIZE> __device__ void unrolled(int *data, unsigned t)
{
    if (SIZE >= 512) {
        if (t < 256)
            data[t] += data[t + 256];
        __syncthreads();
    }
    if (SIZE >= 256) {
        if (t < 128)
            data[t] += data[t + 128];
        __syncthreads();
    }
    if (SIZE >= 128) {
        if (t < 64)
            data[t] += data[t + 64];
        __syncthreads();
    }
    if (t < 32)
        warp_reduce(data, t);
}

template <unsigned SIZE> __global__ void reduce5(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * SIZE * 2 + t;
    data[t] = (i < n ? in[i] : 0) + (i + SIZE < n ? in[i + SIZE] : 0);
    __syncthreads();
    unrolled<SIZE>(data, t);
    if (t == 0)
        out[blockIdx.x] = data[0];
}

template <unsigned SIZE> __global__ void reduce6(const int *in, int *out, unsigned n)
{
    extern __shared__ int data[];
    unsigned t = threadIdx.x;
    int sum = 0;
    for (unsigned i = blockIdx.x * SIZE * 2 + t; i < n; i += SIZE * 2 * gridDim.x) {
        sum += in[i];
        if (i + SIZE < n)
            sum += in[i + SIZE];
    }
    data[t] = sum;
    __syncthreads();
    unrolled<SIZE>(data, t);
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__inline__ __device__ int warp_sum(int value)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void reduce_shuffle(const int *in, int *out, unsigned n)
{
    static __shared__ int partial[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0)
        partial[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0;
    if (warp == 0)
        sum = warp_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

__device__ unsigned finished_blocks = 0;

__global__ void reduce_one_pass(const int *in, volatile int *partial, int *total, unsigned n)
{
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += in[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        unsigned ticket = atomicInc(&finished_blocks, gridDim.x - 1);
        last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int result = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            result += partial[i];
        *total = result;
    }
}

__global__ void reduce_groups(const int *in, int *out, unsigned n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = 0;
    for (unsigned i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size())
        sum += in[i];
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0)
        atomicAdd(out, sum);
}

const unsigned N = 100003, THREADS = 256;
static std::vector<int> host(N);
static int *in, *out;
static int expected;

static void report(const char *name, unsigned blocks)
{
    std::vector<int> partial(blocks);
    cudaMemcpy(partial.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int value : partial)
        sum += value;
    printf("%-22s blocks %4u first %8d sum %d %s %s\n", name, blocks, partial[0], sum,
           sum == expected ? "right" : "WRONG", cudaGetErrorString(cudaGetLastError()));
    cudaMemset(out, 0, 1024 * sizeof(int));
}

int main()
{
    for (unsigned i = 0; i < N; i++) {
        host[i] = (int)(i * 2654435761u >> 16) % 1001 - 250;
        expected += host[i];
    }
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, 1024 * sizeof(int));
    cudaMemcpy(in, host.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 1024 * sizeof(int));
    unsigned full = (N + THREADS - 1) / THREADS, half = (N + 2 * THREADS - 1) / (2 * THREADS);
    size_t shared = THREADS * sizeof(int);
    reduce0<<<full, THREADS, shared>>>(in, out, N);
    report("0 interleaved", full);
    reduce1<<<full, THREADS, shared>>>(in, out, N);
    report("1 strided", full);
    reduce2<<<full, THREADS, shared>>>(in, out, N);
    report("2 sequential", full);
    reduce3<<<half, THREADS, shared>>>(in, out, N);
    report("3 first add on load", half);
    reduce4<<<half, THREADS, shared>>>(in, out, N);
    report("4 last warp unrolled", half);
    reduce5<THREADS><<<half, THREADS, shared>>>(in, out, N);
    report("5 unrolled", half);
    reduce6<THREADS><<<16, THREADS, shared>>>(in, out, N);
    report("6 several elements", 16);
    reduce6<64><<<24, 64, 64 * sizeof(int)>>>(in, out, N);
    report("6 with 64 threads", 24);
    reduce_shuffle<<<20, 1024>>>(in, out, N);
    report("shuffle", 20);
    for (int again = 0; again < 2; again++) {
        reduce_one_pass<<<32, THREADS>>>(in, out + 1, out, N);
        report("one pass", 1);
    }
    reduce_groups<<<16, 192>>>(in, out, N);
    report("cooperative groups", 1);
    return 0;
}
