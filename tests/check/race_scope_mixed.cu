// race_scope_mixed.cu: one side is wide enough, the other is not: both must be.
#include <cuda/atomic>

__global__ void highest(int *word, int *out)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
#ifdef FIXED
        cuda::atomic_ref<int, cuda::thread_scope_device> ref(*word);
#else
        cuda::atomic_ref<int, cuda::thread_scope_block> ref(*word);
#endif
        ref.fetch_add(1, cuda::memory_order_relaxed); // expect: race "scope"
    } else {
        out[blockIdx.x] = atomicAdd(word, 2); // expect: race
    }
}

int main()
{
    int *word, *out;
    cudaMalloc(&word, sizeof(int));
    cudaMalloc(&out, 4 * sizeof(int));
    cudaMemset(word, 0, sizeof(int));
    highest<<<4, 32>>>(word, out);
    cudaDeviceSynchronize();
    cudaFree(word);
    cudaFree(out);
}
