// The row goes by elements, the column still by lanes.
__global__ void lanes(const float *x, const float *scale, float *y, int rows, int cols)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int r = i / cols;
    int c = i % 32;
    if (r < rows && c < cols)
        y[r * cols + c] = x[r * cols + c] * scale[c];
}
