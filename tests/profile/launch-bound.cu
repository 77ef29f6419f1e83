// A hundred launches of a microsecond's work; fixed: one launch for all of it.
__global__ void step(float *data, int repeats) // <- launch-bound
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = data[i];
#pragma unroll 1
    for (int k = 0; k < repeats; k++)
        value = value * 0.5f + 1.0f;
    data[i] = value;
}

int main()
{
    const int n = 132 * 256;
    float *data;
    cudaMalloc(&data, n * sizeof(float));
#ifdef FIXED
    step<<<n / 256, 256>>>(data, 4000);
#else
    for (int k = 0; k < 100; k++)
        step<<<n / 256, 256>>>(data, 40);
#endif
    return cudaDeviceSynchronize();
}
