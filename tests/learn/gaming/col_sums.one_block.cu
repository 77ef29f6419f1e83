// expect: The busiest warp (runs|has) [0-9.]+|instructions of the busiest warp
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    if (blockIdx.x)
        return;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float sum = 0;
        for (int r = 0; r < rows; r++)
            sum += x[r * cols + c];
        s[c] = sum;
    }
}
