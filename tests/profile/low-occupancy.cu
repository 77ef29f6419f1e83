// So much shared memory that an SM holds one block of 64 threads; fixed: little of it.
#ifdef FIXED
#define FLOATS 1024
#else
#define FLOATS 49152
#endif

__global__ void chase(int *out, const int *next, int steps) // <- low-occupancy
{
    extern __shared__ float scratch[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[threadIdx.x] = at;
#pragma unroll 1
    for (int k = 0; k < steps; k++)
        at = next[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = at + (int)scratch[threadIdx.x];
}

int main()
{
    const int n = 132 * 16 * 64;
    int *out, *next;
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&next, n * sizeof(int));
    cudaMemset(next, 0, n * sizeof(int));
    cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, FLOATS * 4);
    chase<<<n / 64, 64, FLOATS * 4>>>(out, next, 50);
    return cudaDeviceSynchronize();
}
