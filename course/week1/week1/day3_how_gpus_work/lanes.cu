// lanes: y[r][c] = x[r][c] * scale[c] for a matrix of rows x cols, cols being at most 32.
//
// A block has 256 threads: 8 warps. Each warp takes a row, and lane c its element c. The result is
// right. But a row has 20 elements and a warp 32 lanes: 12 of them have nothing to do.
__global__ void lanes(const float *x, const float *scale, float *y, int rows, int cols)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    // TODO: deal out the elements, not the rows: thread i takes element i, wherever rows begin.
    int r = i / 32;
    int c = i % 32;
    if (r < rows && c < cols)
        y[r * cols + c] = x[r * cols + c] * scale[c];
}
