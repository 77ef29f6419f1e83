// Rows that begin one element after a sector's begin; fixed: they begin with it.
#ifdef FIXED
#define OFFSET 8
#else
#define OFFSET 1
#endif

__global__ void fill(float *out, int n, float value)
{
    for (int k = 0; k < 64; k++)
        out[(blockIdx.x * 64 + k) * blockDim.x + threadIdx.x + OFFSET] = value; // <- misaligned
}

int main()
{
    float *out;
    cudaMalloc(&out, (size_t)(132 * 4 * 64 * 256 + 64) * sizeof(float));
    fill<<<132 * 4, 256>>>(out, 0, 1.0f);
    return cudaDeviceSynchronize();
}
