// lanes: y[r][c] = x[r][c] * scale[c]. Thread i takes element i, so that every lane has one.
__global__ void lanes(const float *x, const float *scale, float *y, int rows, int cols)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int r = i / cols;
    int c = i % cols;
    if (r < rows)
        y[r * cols + c] = x[r * cols + c] * scale[c];
}
