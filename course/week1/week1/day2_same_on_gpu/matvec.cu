// matvec: y = a * x. a has m x k elements, row by row; x has k and y has m.
//
// A block has 128 threads; the grid has ceil(m / 128) blocks. The loops are those of a CPU, and
// every thread of the grid runs all of them: right, and computed hundreds of times.
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    // TODO: the loop over rows becomes the grid: this thread does one row, if there is one for it.
    for (int i = 0; i < m; i++) {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[i * k + p] * x[p];
        y[i] = sum;
    }
}
