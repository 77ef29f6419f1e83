// Even and odd threads do different things; fixed: even and odd warps.
#ifdef FIXED
#define SIDE (threadIdx.x / 32)
#else
#define SIDE threadIdx.x
#endif

__global__ void both(float *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i;
    if (SIDE % 2) { // <- divergence
#pragma unroll 1
        for (int k = 0; k < steps; k++)
            value = value * 1.5f + 2.0f;
    } else {
#pragma unroll 1
        for (int k = 0; k < steps; k++)
            value = __sinf(value) + 0.25f;
    }
    out[i] = value;
}

int main()
{
    const int n = 132 * 2048;
    float *out;
    cudaMalloc(&out, n * sizeof(float));
    both<<<n / 256, 256>>>(out, 100);
    return cudaDeviceSynchronize();
}
