// Along a row instead of down a column.
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < cols; r++)
        sum += x[c * cols + r];
    s[c] = sum;
}
