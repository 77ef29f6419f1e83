__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < rows && left + x < cols)
            tile[y][x ^ y] = in[(top + y) * cols + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < cols && top + x < rows)
            out[(left + y) * rows + top + x] = tile[x][y ^ x];
}
