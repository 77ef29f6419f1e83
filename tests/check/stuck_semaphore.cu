// stuck_semaphore.cu: a semaphore that is acquired once more than it is released.
// options: -arch=sm_90 -std=c++17 -diag-suppress=20054
#include <cuda/semaphore>
#include <new>

typedef cuda::counting_semaphore<cuda::thread_scope_block> block_semaphore;

__global__ void take(int *out)
{
    __shared__ alignas(block_semaphore) char memory[sizeof(block_semaphore)];
    auto *room = reinterpret_cast<block_semaphore *>(memory);
    if (threadIdx.x == 0)
        new (room) block_semaphore(1);
    __syncthreads();
    room->acquire(); // expect: timeout
    out[threadIdx.x] = 1;
#ifdef FIXED
    room->release();
#endif
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    take<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
