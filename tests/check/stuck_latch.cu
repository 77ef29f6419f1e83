// stuck_latch.cu: a latch counts one thread more than there are.
// options: -arch=sm_90 -std=c++17 -diag-suppress=20054
#include <cuda/latch>
#include <new>

typedef cuda::latch<cuda::thread_scope_block> block_latch;

__global__ void meet(int *out)
{
    __shared__ alignas(block_latch) char memory[sizeof(block_latch)];
    auto *gate = reinterpret_cast<block_latch *>(memory);
#ifdef FIXED
    int threads = blockDim.x;
#else
    int threads = blockDim.x + 1;
#endif
    if (threadIdx.x == 0)
        new (gate) block_latch(threads);
    __syncthreads();
    gate->arrive_and_wait(); // expect: timeout "nothing outside can end it"
    out[threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    meet<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
