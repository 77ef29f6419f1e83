// No swizzle: 32 lanes go down one column, in one bank.
__global__ void swizzle(const float *in, float *out, int rows, int cols)
{
    extern __shared__ float tile[]; // 32 x 32, no more
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < rows && left + x < cols)
            tile[y * 32 + x] = in[(top + y) * cols + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < cols && top + x < rows)
            out[(left + y) * rows + top + x] = tile[x * 32 + y];
}
