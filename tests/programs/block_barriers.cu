// Barriers of a block: __syncthreads_count, _and, _or; named barriers in inline PTX with thread
// counts, bar.arrive for producers and bar.sync for consumers, barrier.red; warps that exit early;
// a barrier inside a uniform branch and inside a loop.

#include <cstdio>

__global__ void reductions(const int *in, int *out)
{
    int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    int count = __syncthreads_count(v > 10);
    int all = __syncthreads_and(v >= 0), any = __syncthreads_or(v == 42);
    if (t == 0) {
        out[blockIdx.x * 3] = count;
        out[blockIdx.x * 3 + 1] = all != 0;
        out[blockIdx.x * 3 + 2] = any != 0;
    }
}

__device__ void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Two halves of a block work apart, each with a barrier of its own, then meet.
__global__ void two_halves(int *out)
{
    __shared__ int data[128];
    int half = threadIdx.x / 64, t = threadIdx.x % 64, *mine = data + half * 64;
    mine[t] = t + half * 1000;
    for (int stride = 32; stride > 0; stride >>= 1) {
        named_sync(half + 1, 64);
        if (t < stride)
            mine[t] += mine[t + stride];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = data[0], out[1] = data[64];
}

// Warp 0 produces, warps 1 to 3 consume, through two barriers: full and empty.
__global__ void warp_specialised(int *out, int rounds)
{
    __shared__ int buffer[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (warp == 0) {
        for (int r = 0; r < rounds; r++) {
            named_sync(5, 128); // empty
            buffer[lane] = r * 100 + lane;
            __threadfence_block();
            named_arrive(6, 128); // full
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            named_arrive(5, 128);
            named_sync(6, 128);
            sum += buffer[(lane + warp) % 32] * warp;
        }
        out[threadIdx.x - 32] = sum;
    }
}

__global__ void barrier_reductions(int *out)
{
    int t = threadIdx.x;
    unsigned population, all, any;
    asm volatile("{\n .reg .pred p, q;\n setp.gt.s32 p, %3, 20;\n"
                 " barrier.cta.red.popc.aligned.u32 %0, 3, 96, p;\n"
                 " barrier.cta.red.and.aligned.pred q, 3, 96, p;\n selp.u32 %1, 1, 0, q;\n"
                 " bar.red.or.pred q, 3, 96, p;\n selp.u32 %2, 1, 0, q;\n}"
                 : "=r"(population), "=r"(all), "=r"(any)
                 : "r"(t));
    if (t == 95)
        out[0] = (int)population, out[1] = (int)all, out[2] = (int)any;
}

// Threads that have returned no longer count at bar.sync 0.
__global__ void early_exit(int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (threadIdx.x >= 64)
        return;
    atomicAdd(&total, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 63)
        out[0] = total;
}

__global__ void in_branches(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (n > 10) { // the same for all threads
        __syncthreads();
        int other = s[63 - t];
        __syncthreads();
        s[t] = other * 2;
    }
    for (int i = 0; i < n; i++) {
        __syncthreads();
        int next = s[(t + 1) % 64];
        __syncthreads();
        s[t] = next + i;
    }
    __syncthreads();
    out[t] = s[t];
}

int main()
{
    int *in, *out;
    cudaMallocManaged(&in, 400 * 4);
    cudaMallocManaged(&out, 400 * 4);
    for (int i = 0; i < 400; i++)
        in[i] = i * 13 % 50 - (i == 250);
    in[7] = 42;
    in[250] = -5;
    for (int i = 100; i < 200; i++)
        in[i] = 11;
    reductions<<<4, 100>>>(in, out);
    cudaDeviceSynchronize();
    for (int b = 0; b < 4; b++)
        printf("block %d: count %d all %d any %d\n", b, out[b * 3], out[b * 3 + 1], out[b * 3 + 2]);
    two_halves<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    printf("two halves: %d %d\n", out[0], out[1]);
    warp_specialised<<<1, 128>>>(out, 6);
    cudaDeviceSynchronize();
    printf("producer warp: %d %d %d\n", out[0], out[40], out[95]);
    barrier_reductions<<<1, 96>>>(out);
    cudaDeviceSynchronize();
    printf("barrier.red: %d %d %d\n", out[0], out[1], out[2]);
    early_exit<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    printf("early exit: %d\n", out[0]);
    for (int n : {3, 12}) {
        in_branches<<<1, 64>>>(out, n);
        cudaDeviceSynchronize();
        printf("in branches %d: %d %d %d\n", n, out[0], out[31], out[63]);
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
