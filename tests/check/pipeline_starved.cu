// pipeline_starved.cu: a cuda::pipeline whose consumers never release a stage: they wait for the first
// one again and again, and read others.
// options: -arch=sm_90 -std=c++17 -diag-suppress=20054
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void stages(const int *in, int *out)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int stage[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stage[i % 2], in + 64 * i, 256, pipe); // expect: race
        pipe.producer_commit();
        pipe.consumer_wait(); // expect: barrier "64 of 64 arrivals missing"
        sum += stage[i % 2][63 - threadIdx.x]; // expect: race
#ifdef FIXED
        pipe.consumer_release();
#endif
    }
    out[threadIdx.x] = sum;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 1024);
    stages<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
