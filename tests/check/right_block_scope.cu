// right_block_scope.cu: atomics of block scope on words that only one block uses, in shared memory,
// and in a launch after another block's.
#include <cuda/atomic>

__global__ void count(const int *in, int *totals)
{
    __shared__ int mine;
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    int v = in[blockIdx.x * 64 + threadIdx.x];
    atomicAdd_block(&mine, v);
    atomicAdd_block(&totals[blockIdx.x], v);
    cuda::atomic_ref<int, cuda::thread_scope_block> ref(totals[blockIdx.x]);
    ref.fetch_max(v, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&totals[gridDim.x], mine);
}

__global__ void again(int *totals)
{
    if (threadIdx.x == 0)
        atomicAdd_block(&totals[gridDim.x - 1 - blockIdx.x], 1);
}

int main()
{
    int *in, *totals;
    cudaMalloc(&in, 4 * 64 * sizeof(int));
    cudaMalloc(&totals, 5 * sizeof(int));
    cudaMemset(in, 0, 4 * 64 * sizeof(int));
    cudaMemset(totals, 0, 5 * sizeof(int));
    count<<<4, 64>>>(in, totals);
    again<<<4, 64>>>(totals);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(totals);
}
