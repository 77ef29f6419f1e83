// race_flag_scope.cu: block 0 publishes with release, block 1 waits with acquire; but both only for
// their own block.
#include <cuda/atomic>
#ifdef FIXED
#define SCOPE cuda::thread_scope_device
#else
#define SCOPE cuda::thread_scope_block
#endif
__device__ int flag, data;

__global__ void pass(int *out)
{
    cuda::atomic_ref<int, SCOPE> ref(flag);
    if (blockIdx.x == 0) {
        data = 42;                               // expect: race
        ref.store(1, cuda::memory_order_release); // expect: race
    } else {
        while (ref.load(cuda::memory_order_acquire) == 0) // expect: race
            ;
        *out = data; // expect: race
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    pass<<<2, 1>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
