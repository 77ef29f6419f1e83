// barrier_lanes_ids.cu: half of each warp waits at one named barrier, the other half at another: a
// barrier is for whole warps.
__device__ void wait(int id, int count)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

__global__ void halves(int *a)
{
    int lane = threadIdx.x % 32;
    a[threadIdx.x] = lane;
#ifdef FIXED
    wait(1, 64);
#else
    if (lane < 16)
        wait(1, 64); // expect: barrier
    else
        wait(2, 64); // expect: barrier
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
