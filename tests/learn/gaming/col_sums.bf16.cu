// expect: wrong result for rows=40 cols=256: s
__device__ float cut(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xffff0000u);
}
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum = cut(sum + x[r * cols + c]);
    s[c] = sum;
}
