// race_host_managed.cu: the host reads managed memory before it has waited for the kernel that writes
// it, and writes mapped memory that a kernel reads.
#include <cstdio>

__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

__global__ void sum(const int *a, int *out)
{
    out[threadIdx.x] = a[threadIdx.x] + 1;
}

int main()
{
    int *a, *mapped, *out, total = 0;
    cudaMallocManaged(&a, 64 * sizeof(int));
    cudaHostAlloc(&mapped, 64 * sizeof(int), cudaHostAllocMapped);
    cudaMalloc(&out, 64 * sizeof(int));
    for (int i = 0; i < 64; i++)
        a[i] = mapped[i] = 0;
    fill<<<1, 64>>>(a); // expect: race
#ifdef FIXED
    cudaDeviceSynchronize();
#endif
    for (int i = 0; i < 64; i++)
        total += a[i]; // expect: race "with the host"
    cudaDeviceSynchronize();
    sum<<<1, 64>>>(mapped, out); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(0);
#endif
    mapped[7] = 3; // expect: race "writes"
    cudaDeviceSynchronize();
    printf("%d\n", total > 0);
    cudaFree(a);
    cudaFree(out);
    cudaFreeHost(mapped);
}
