// libcu++ on the device: cuda::barrier (arrive, wait, arrive_and_drop, completion function),
// cuda::pipeline in two and in four stages with memcpy_async, unified and partitioned; the older
// __pipeline_* intrinsics; cuda::latch and counting_semaphore.
// flags: -std=c++17 -diag-suppress=20054

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void split_arrive_wait(int *out, int rounds)
{
    __shared__ block_barrier barrier;
    __shared__ int data[128];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    int t = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        data[t] = t * (r + 1);
        block_barrier::arrival_token token = barrier.arrive();
        int independent = t + r; // independent work
        barrier.wait(std::move(token));
        int other = data[(t + 1) % 128];
        barrier.arrive_and_wait();
        out[t] += other + independent;
    }
}

__global__ void dropping(int *out)
{
    __shared__ block_barrier barrier;
    __shared__ int count;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        count = 0;
    }
    __syncthreads();
    if (threadIdx.x >= 40) {
        barrier.arrive_and_drop();
        return;
    }
    for (int i = 0; i < 3; i++) {
        atomicAdd(&count, 1);
        barrier.arrive_and_wait();
        if (threadIdx.x == 5)
            out[i] = count;
        barrier.arrive_and_wait();
    }
}

struct completion {
    int *total;
    __device__ void operator()()
    {
        ++*total;
    }
};

__global__ void with_completion(int *out)
{
    using barrier_type = cuda::barrier<cuda::thread_scope_block, completion>;
    __shared__ char storage[sizeof(barrier_type)] __attribute__((aligned(16)));
    __shared__ int total;
    barrier_type *barrier = (barrier_type *)storage;
    if (threadIdx.x == 0) {
        total = 0;
        new (barrier) barrier_type(blockDim.x, completion{&total});
    }
    __syncthreads();
    for (int i = 0; i < 4; i++)
        barrier->arrive_and_wait();
    if (threadIdx.x == 0)
        *out = total;
}

template <int STAGES> __global__ void pipelined(const int *in, int *out, int batches)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    extern __shared__ int staged[];
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int size = block.size(), sum = 0;
    for (int fetch = 0, compute = 0; compute < batches; compute++) {
        for (; fetch < batches && fetch < compute + STAGES; fetch++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, staged + fetch % STAGES * size, in + fetch * size,
                               sizeof(int) * size, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += staged[compute % STAGES * size + (threadIdx.x + 1) % size] * (compute + 1);
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void producer_warp(const int *in, int *out, int batches)
{
    constexpr int STAGES = 2, SIZE = 64;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ int staged[STAGES][SIZE];
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int b = 0; b < batches; b++) {
            pipeline.producer_acquire();
            for (int i = threadIdx.x; i < SIZE; i += 32)
                cuda::memcpy_async(&staged[b % STAGES][i], in + b * SIZE + i, sizeof(int),
                                   pipeline);
            pipeline.producer_commit();
        }
    } else {
        int sum = 0;
        for (int b = 0; b < batches; b++) {
            pipeline.consumer_wait();
            sum += staged[b % STAGES][threadIdx.x - 32];
            pipeline.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
    }
}

__global__ void barrier_copy(const int4 *in, int *out)
{
    __shared__ alignas(16) int4 staged[64];
    __shared__ block_barrier barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&staged[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16),
                       barrier);
    barrier.arrive_and_wait();
    int4 v = staged[63 - threadIdx.x];
    out[threadIdx.x] = v.x + v.y - v.z + 2 * v.w;
}

__global__ void primitives(const int *in, int *out)
{
    __shared__ int staged[2][32];
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&staged[i][t], in + i * 32 + t, sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncwarp();
    int first = staged[0][31 - t];
    __pipeline_wait_prior(0);
    __syncwarp();
    out[t] = first * 1000 + staged[1][31 - t];
}

__global__ void latch_and_semaphore(int *out)
{
    using latch_type = cuda::latch<cuda::thread_scope_block>;
    using semaphore_type = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
    __shared__ alignas(16) char latch_bytes[sizeof(latch_type)];
    __shared__ alignas(16) char semaphore_bytes[sizeof(semaphore_type)];
    __shared__ int inside, most;
    latch_type &latch = *(latch_type *)latch_bytes;
    semaphore_type &semaphore = *(semaphore_type *)semaphore_bytes;
    if (threadIdx.x == 0) {
        new (&latch) latch_type(blockDim.x);
        new (&semaphore) semaphore_type(4);
        inside = most = 0;
    }
    __syncthreads();
    latch.arrive_and_wait();
    semaphore.acquire();
    atomicMax(&most, atomicAdd(&inside, 1) + 1);
    atomicSub(&inside, 1);
    semaphore.release();
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = most <= 4 && most >= 1, out[1] = inside;
}

static unsigned hash_of(const int *values, int count)
{
    unsigned hash = 0;
    for (int i = 0; i < count; i++)
        hash = hash * 31 + (unsigned)values[i];
    return hash;
}

int main()
{
    int *in, *out;
    cudaMallocManaged(&in, 2048 * 4);
    cudaMallocManaged(&out, 256 * 4);
    for (int i = 0; i < 2048; i++)
        in[i] = i * 7 % 501;
    cudaMemset(out, 0, 1024);
    split_arrive_wait<<<1, 128>>>(out, 5);
    cudaDeviceSynchronize();
    printf("arrive, wait: %d %d %d hash %08x\n", out[0], out[64], out[127], hash_of(out, 128));
    dropping<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    printf("drop: %d %d %d\n", out[0], out[1], out[2]);
    with_completion<<<1, 48>>>(out);
    cudaDeviceSynchronize();
    printf("completion ran %d times\n", out[0]);
    pipelined<2><<<1, 128, 2 * 128 * 4>>>(in, out, 10);
    cudaDeviceSynchronize();
    printf("pipeline of 2: %d %d hash %08x\n", out[0], out[127], hash_of(out, 128));
    pipelined<4><<<1, 64, 4 * 64 * 4>>>(in, out, 9);
    cudaDeviceSynchronize();
    printf("pipeline of 4: %d %d hash %08x\n", out[0], out[63], hash_of(out, 64));
    producer_warp<<<1, 96>>>(in, out, 8);
    cudaDeviceSynchronize();
    printf("producer warp: %d %d hash %08x\n", out[0], out[63], hash_of(out, 64));
    barrier_copy<<<1, 64>>>((const int4 *)in, out);
    cudaDeviceSynchronize();
    printf("copy on a barrier: %d %d hash %08x\n", out[0], out[63], hash_of(out, 64));
    primitives<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    printf("primitives: %d %d hash %08x\n", out[0], out[31], hash_of(out, 32));
    latch_and_semaphore<<<1, 64>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("latch, semaphore: %d %d\n", out[0], out[1]);
    return 0;
}
