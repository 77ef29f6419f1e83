// Transaction counts by hand: cuda::device::barrier_arrive_tx, barrier_expect_tx and memcpy_async_tx
// of libcu++; mbarriers by cuda::ptx with noComplete arrivals, states, test_wait and try_wait with a
// time limit; a launch that depends on the one before it (griddepcontrol).
// flags: -arch=sm_90 -std=c++17 -diag-suppress=20054
// takes: long

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { THREADS = 64, WORDS = 256 };

__global__ void copy(const int *in, int *out)
{
    __shared__ alignas(16) int tile[WORDS];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, THREADS);
        ptx::fence_proxy_async();
    }
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile, in + round * WORDS,
                                          cuda::aligned_size_t<16>(sizeof tile), bar);
            if (round == 1) {
                cuda::device::barrier_expect_tx(bar, sizeof tile);
                token = bar.arrive();
            } else {
                token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
            }
        } else {
            token = bar.arrive();
        }
        bar.wait(std::move(token));
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            out[round * WORDS + i] = tile[WORDS - 1 - i] + round;
        __syncthreads();
    }
}

__global__ void states(int *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 8);
        uint64_t state = ptx::mbarrier_arrive_no_complete(&bar, 5);
        out[0] = ptx::mbarrier_test_wait(&bar, state);
        state = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 2);
        out[1] = ptx::mbarrier_try_wait(&bar, state, 100);
        state = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar);
        out[2] = ptx::mbarrier_test_wait(&bar, state);
        out[3] = ptx::mbarrier_test_wait_parity(&bar, 0);
        out[4] = ptx::mbarrier_test_wait_parity(&bar, 1);
        out[5] = ptx::mbarrier_try_wait_parity(&bar, 1, 100);
    }
}

__global__ void first(int *data)
{
    data[threadIdx.x] = threadIdx.x * 3;
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(const int *data, int *out)
{
    cudaGridDependencySynchronize();
    out[threadIdx.x] = data[threadIdx.x ^ 1] + 1;
}

int main()
{
    static int in[3 * WORDS], got[3 * WORDS];
    int *device_in, *out, wrong = 0;
    for (int i = 0; i < 3 * WORDS; i++)
        in[i] = i * i % 1013;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&out, sizeof in);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    copy<<<1, THREADS>>>(device_in, out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 3 * WORDS; i++)
        wrong += got[i] != in[i / WORDS * WORDS + WORDS - 1 - i % WORDS] + i / WORDS;
    printf("copies: %d wrong, %d %d\n", wrong, got[0], got[3 * WORDS - 1]);

    states<<<1, 32>>>(out);
    cudaMemcpy(got, out, 6 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("states: %d %d %d %d %d %d\n", got[0], got[1], got[2], got[3], got[4], got[5]);

    first<<<1, THREADS>>>(device_in);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = 1;
    config.blockDim = THREADS;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t status = cudaLaunchKernelEx(&config, second, (const int *)device_in, out);
    cudaMemcpy(got, out, THREADS * sizeof(int), cudaMemcpyDeviceToHost);
    printf("dependent: %s, %d %d %d\n", cudaGetErrorName(status), got[0], got[1], got[63]);
    cudaFree(device_in);
    cudaFree(out);
}
