// Walks along the rows, and writes as if they were columns.
__global__ void row_walk(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int r = i / cols;
    int c = i % cols;
    out[c * rows + r] = 2 * in[r * cols + c];
}
