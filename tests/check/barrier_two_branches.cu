// barrier_two_branches.cu: each branch has a barrier of its own.
__global__ void halves(int *a)
{
    if (threadIdx.x < 32) {
        a[threadIdx.x] = 1;
#ifndef FIXED
        __syncthreads(); // expect: barrier
#endif
    } else {
        a[threadIdx.x] = 2;
#ifndef FIXED
        __syncthreads(); // expect: barrier
#endif
    }
#ifdef FIXED
    __syncthreads();
#endif
    a[64 + threadIdx.x] = a[63 - threadIdx.x];
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    halves<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
