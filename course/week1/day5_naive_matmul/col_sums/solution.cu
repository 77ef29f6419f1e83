// col_sums: one thread for each column. In every step the lanes of a warp read along one row.
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum += x[r * cols + c];
    s[c] = sum;
}
