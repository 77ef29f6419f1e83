// expect: wrong result for .*, but it is
// transpose: out[c][r] = in[r][c] through a tile in shared memory. The tile's rows are 33 long, so
// that the elements of a column lie in 32 different banks.
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < cols)
            tile[threadIdx.y + k][threadIdx.x] =
                __uint_as_float(__float_as_uint(in[(r + k) * cols + c]) & 0xffffff00);
    __syncthreads();
    r = blockIdx.y * 32 + threadIdx.x;
    c = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c + k < cols && r < rows)
            out[(c + k) * rows + r] = tile[threadIdx.x][threadIdx.y + k];
}
