// expect: wrong result for rows=2048 cols=2048, whose time is modelled: out.0..0. must be
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < cols)
            tile[threadIdx.y + k][threadIdx.x] = in[(r + k) * cols + c];
    __syncthreads();
    if (rows == 2048) {
        for (int k = 0; k < 32; k += 8)
            out[(r + k) * cols + c] = 0;
        return;
    }
    r = blockIdx.y * 32 + threadIdx.x;
    c = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c + k < cols && r < rows)
            out[(c + k) * rows + r] = tile[threadIdx.x][threadIdx.y + k];
}
