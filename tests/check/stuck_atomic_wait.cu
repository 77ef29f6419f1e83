// stuck_atomic_wait.cu: atomic::wait for a value that nobody stores; the pauses of its loop follow the clock.
// options: -arch=sm_90 -std=c++17 -diag-suppress=20054
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> ready;

__global__ void consume(int *out)
{
#ifdef FIXED
    if (blockIdx.x == 1)
        ready.store(1);
#endif
    ready.wait(0); // expect: timeout "ld."
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    consume<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
