// Columns of a tile, all in one bank; fixed: rows padded by one element.
#ifdef FIXED
#define PAD 1
#else
#define PAD 0
#endif

__global__ void turn(float *out, const float *in)
{
    __shared__ float tile[32][32 + PAD];
    int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * 1024 + y * 32 + x;
    for (int i = 0; i < 32; i += 8)
        tile[y + i][x] = in[at + i * 32];
    __syncthreads();
    for (int i = 0; i < 32; i += 8)
        out[at + i * 32] = tile[x][y + i]; // <- bank-conflicts
}

int main()
{
    const int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    turn<<<n / 1024, dim3(32, 8)>>>(out, in);
    return cudaDeviceSynchronize();
}
