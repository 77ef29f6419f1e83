// mbarrier_toolkit.cu: a cuda::barrier that expects a thread too many. The toolkit's waits pause longer and
// longer, by the clock; one that has a time limit still ends.
// options: -arch=sm_90 -std=c++17 -diag-suppress=20054
#include <cuda/barrier>
#include <cuda/std/chrono>

using barrier = cuda::barrier<cuda::thread_scope_block>;

#ifdef FIXED
enum { EXTRA = 0 };
#else
enum { EXTRA = 1 };
#endif

__global__ void meet(int *out)
{
    __shared__ barrier all;
    __shared__ int value[64];
    if (threadIdx.x == 0)
        init(&all, blockDim.x + EXTRA);
    __syncthreads();
    value[threadIdx.x] = threadIdx.x;
    all.arrive_and_wait(); // expect: barrier "1 of 65 arrivals missing"
    out[threadIdx.x] = value[63 - threadIdx.x];
}

// Not stuck: it waits for half a second.
__global__ void gives_up(int *out)
{
    __shared__ barrier never;
    __shared__ int late;
    if (threadIdx.x == 0) {
        init(&never, 65);
        late = 0;
    }
    __syncthreads();
    auto token = never.arrive();
    bool came = never.try_wait_for(std::move(token), cuda::std::chrono::milliseconds(500));
    if (threadIdx.x == 0) {
        late = came ? 0 : 1;
        (void)never.arrive();
    }
    __syncthreads();
    out[threadIdx.x] = late;
}

int main()
{
    int *out, late = 0;
    cudaMalloc(&out, 256);
    gives_up<<<1, 64>>>(out);
    cudaMemcpy(&late, out, sizeof late, cudaMemcpyDeviceToHost);
    meet<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return late == 1 ? 0 : 7;
}
