// scale_rows: thread i has element i of memory; its row is what the division by cols gives.
__global__ void scale_rows(const float *x, const float *factor, float *y, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int r = i / cols;
    int c = i % cols;
    y[r * cols + c] = x[r * cols + c] * factor[r];
}
