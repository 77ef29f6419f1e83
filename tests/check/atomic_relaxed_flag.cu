// atomic_relaxed_flag.cu: a flag set by cuda::atomic_ref with relaxed order publishes nothing
#include <cuda/atomic>
__global__ void go(int *a, int *flag)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        a[0] = 5; // expect: race
#ifdef FIXED
        ready.store(1, cuda::memory_order_release);
#else
        ready.store(1, cuda::memory_order_relaxed);
#endif
    } else {
        while (!ready.load(cuda::memory_order_acquire))
            ;
        a[1] = a[0]; // expect: race
    }
}

int main()
{
    int *a;
    cudaMalloc(&a, 256);
    cudaMemset(a, 0, 256);
    go<<<2, 32>>>(a, a + 32);
    cudaDeviceSynchronize();
    cudaFree(a);
}
