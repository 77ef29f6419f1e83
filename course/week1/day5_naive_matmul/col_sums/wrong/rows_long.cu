// The next row is cols elements further, not rows.
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum += x[r * rows + c];
    s[c] = sum;
}
