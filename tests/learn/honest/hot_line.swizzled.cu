__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows,
                         int cols)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    float g = left + x < cols ? gain[left + x] : 0;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (top + k < rows && left + x < cols)
            tile[k][x ^ k] = out[(top + k) * cols + left + x] = g * in[(top + k) * cols + left + x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (left + k < cols && top + x < rows)
            turned[(left + k) * rows + top + x] = tile[x][k ^ x];
}
