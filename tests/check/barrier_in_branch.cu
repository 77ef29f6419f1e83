// barrier_in_branch.cu: __syncthreads in a branch that half of the warp takes.
__global__ void half(int *a)
{
    if (threadIdx.x < 16) {
        a[threadIdx.x] = 1;
#ifndef FIXED
        __syncthreads(); // expect: barrier
#endif
    }
#ifdef FIXED
    __syncthreads();
#endif
    a[32 + threadIdx.x] = threadIdx.x;
    a[64 + threadIdx.x] = threadIdx.x;
}

int main()
{
    int *a;
    cudaMalloc(&a, 96 * sizeof(int));
    half<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
