// expect: wrong result for 
// Loses NaN and infinities.
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < cols)
            tile[threadIdx.y + k][threadIdx.x] = fminf(fmaxf(in[(r + k) * cols + c], -1e30f), 1e30f);
    __syncthreads();
    r = blockIdx.y * 32 + threadIdx.x;
    c = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c + k < cols && r < rows)
            out[(c + k) * rows + r] = tile[threadIdx.x][threadIdx.y + k];
}
