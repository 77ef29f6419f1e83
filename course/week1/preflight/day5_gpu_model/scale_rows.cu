// scale_rows: y[r][c] = x[r][c] * factor[r]. x and y have rows x cols elements and lie row by row.
//
// One thread for each element; blocks of 256. The result is right. But the threads of a warp have
// elements of one column: 32 places that lie far apart.
__global__ void scale_rows(const float *x, const float *factor, float *y, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    // TODO: let threads that follow each other have elements that follow each other.
    int r = i % rows;
    int c = i / rows;
    y[r * cols + c] = x[r * cols + c] * factor[r];
}
