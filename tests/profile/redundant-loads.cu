// A product of matrices that reads everything from global memory, again and again; fixed: tiles in
// shared memory, four results a thread.
#define N 256

#ifdef FIXED
__global__ void product(float *c, const float *a, const float *b)
{
    __shared__ float as[32][33], bs[32][33];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sum[4] = {0};
    for (int k = 0; k < N; k += 32) {
        for (int i = 0; i < 4; i++) {
            as[y + 8 * i][x] = a[(row + 8 * i) * N + k + x];
            bs[y + 8 * i][x] = b[(k + y + 8 * i) * N + column];
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 4; j++)
                sum[j] += as[y + 8 * j][i] * bs[i][x];
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        c[(row + 8 * j) * N + column] = sum[j];
}
#else
__global__ void product(float *c, const float *a, const float *b)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[row * N + k] * b[k * N + column]; // <- redundant-loads
    c[row * N + column] = sum;
}
#endif

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, N * N * sizeof(float));
    cudaMalloc(&b, N * N * sizeof(float));
    cudaMalloc(&c, N * N * sizeof(float));
#ifdef FIXED
    product<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(c, a, b);
#else
    product<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(c, a, b);
#endif
    return cudaDeviceSynchronize();
}
