// Four blocks more than there are SMs; fixed: as many blocks as there are SMs.
#ifdef FIXED
#define BLOCKS 132
#else
#define BLOCKS 136
#endif

__global__ void work(float *out, int steps) // <- tail-wave
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i, other = i + 1;
    for (int k = 0; k < steps; k++) {
        value = value * 1.5f + 2.0f;
        other = other * 2.5f + 1.0f;
    }
    out[i] = value + other;
}

int main()
{
    float *out;
    cudaMalloc(&out, BLOCKS * 1024 * sizeof(float));
    work<<<BLOCKS, 1024>>>(out, 500);
    return cudaDeviceSynchronize();
}
