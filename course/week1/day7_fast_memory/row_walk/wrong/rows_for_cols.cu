// Divides by the wrong one of the two: fine for square matrices only.
__global__ void row_walk(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int r = i / rows;
    int c = i % rows;
    out[r * cols + c] = 2 * in[r * cols + c];
}
