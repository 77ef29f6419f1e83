// expect: wrong result for rows=[0-9]+ cols=[0-9]+: out|does not write its results
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (x < cols && y + k < rows)
            tile[k][threadIdx.x] = in[(y + k) * cols + x];
    __syncthreads();
    int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (tx < rows && ty + k < cols && tx < 700)
            out[(ty + k) * rows + tx] = tile[threadIdx.x][k];
}
