// expect: atomics on global memory; the solution has none|several writers
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    s[c] = 0;
    for (int r = 0; r < rows; r++)
        atomicAdd(&s[c], x[r * cols + c]);
}
