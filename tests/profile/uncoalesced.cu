// A transposition that writes columns; fixed: through a tile in shared memory.
#define N 1024

__global__ void transpose(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#ifdef FIXED
    __shared__ float tile[32][33];
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * N + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * N + x] = tile[threadIdx.x][threadIdx.y + i];
#else
    for (int i = 0; i < 32; i += 8)
        out[x * N + y + i] = in[(y + i) * N + x]; // <- uncoalesced
#endif
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, N * N * sizeof(float));
    cudaMalloc(&out, N * N * sizeof(float));
    transpose<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(out, in);
    return cudaDeviceSynchronize();
}
