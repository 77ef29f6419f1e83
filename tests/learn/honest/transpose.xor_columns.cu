// transpose: no padding; column c of row r lies at c ^ r.
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[1024];
    int left = blockIdx.x * 32, top = blockIdx.y * 32, x = threadIdx.x;
#pragma unroll
    for (int r = threadIdx.y; r < 32; r += 8)
        if (top + r < rows && left + x < cols)
            tile[32 * r + (x ^ r)] = in[(size_t)(top + r) * cols + left + x];
    __syncthreads();
#pragma unroll
    for (int c = threadIdx.y; c < 32; c += 8)
        if (left + c < cols && top + x < rows)
            out[(size_t)(left + c) * rows + top + x] = tile[32 * x + (c ^ x)];
}
