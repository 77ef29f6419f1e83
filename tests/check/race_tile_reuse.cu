// race_tile_reuse.cu: a tile is filled again while others still read it.
__global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float x[16][16], y[16][16];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];      // expect: race
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column]; // expect: race
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += x[threadIdx.y][i] * y[i][threadIdx.x]; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
    }
    c[row * n + column] = sum;
}

int main()
{
    const int n = 64;
    float *m[3];
    for (auto &one : m)
        cudaMalloc(&one, n * n * sizeof(float));
    cudaMemset(m[0], 0, n * n * sizeof(float));
    cudaMemset(m[1], 0, n * n * sizeof(float));
    product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(m[0], m[1], m[2], n);
    cudaDeviceSynchronize();
    for (auto &one : m)
        cudaFree(one);
}
