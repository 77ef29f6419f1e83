// A kernel that runs and one that faults; with an argument the program aborts between them.
#include <cstdlib>

__global__ void fine(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

__global__ void wild(int *out)
{
    out[threadIdx.x + (1ll << 40)] = 1;
}

int main(int count, char **words)
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    fine<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    if (count > 1)
        abort();
    wild<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
