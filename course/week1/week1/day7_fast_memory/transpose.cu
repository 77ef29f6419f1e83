// transpose: out[c][r] = in[r][c]. in has rows x cols, out has cols x rows.
//
// A block has 32 x 8 threads and moves one tile of 32 x 32 elements: each thread does 4 of them.
// Reading is fine. Writing is not: the lanes of a warp write into 32 rows of the result.
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    // TODO: put the tile into shared memory first, then read it back turned, so that the lanes of
    // a warp write side by side. Mind the banks.
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < cols)
            out[c * rows + r + k] = in[(r + k) * cols + c];
}
