// An array that is indexed by a value, and so cannot be registers; mended: by constants only.
__global__ void count(int *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, bins[16] = {0}, sum = 0;
    unsigned seed = in[i];
#pragma unroll 8
    for (int k = 0; k < 64; k++) {
        unsigned value = seed >> k % 28 & 15;
#ifdef MENDED
#pragma unroll
        for (int j = 0; j < 16; j++)
            bins[j] += value == j;
#else
        bins[value]++; // <- local-memory
#endif
    }
#pragma unroll
    for (int j = 0; j < 16; j++)
        sum += bins[j] * j;
    out[i] = sum;
}

int main()
{
    const int n = 132 * 6 * 256;
    unsigned *in;
    int *out;
    cudaMalloc(&in, n * sizeof(unsigned));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(in, 0x5a, n * sizeof(unsigned));
    count<<<n / 256, 256>>>(out, in);
    return cudaDeviceSynchronize();
}
