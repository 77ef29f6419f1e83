// Eight large blocks for a GPU with 132 SMs; fixed: small ones for all of them.
#ifdef FIXED
#define THREADS 32
#else
#define THREADS 1024
#endif

__global__ void work(float *out, int steps) // <- few-blocks
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i;
    for (int k = 0; k < steps; k++)
        value = value * 1.5f + 2.0f;
    out[i] = value;
}

int main()
{
    const int n = 8 * 1024;
    float *out;
    cudaMalloc(&out, n * sizeof(float));
    work<<<n / THREADS, THREADS>>>(out, 4000);
    return cudaDeviceSynchronize();
}
