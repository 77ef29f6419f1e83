// swizzle: another permutation that is one: the column plus the row.
__global__ void swizzle(const float *in, float *out, int rows, int cols)
{
    extern __shared__ float tile[];
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        if (top + y < rows && left + x < cols)
            tile[y * 32 + (x + y) % 32] = in[(size_t)(top + y) * cols + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        if (left + y < cols && top + x < rows)
            out[(size_t)(left + y) * rows + top + x] = tile[x * 32 + (y + x) % 32];
}
