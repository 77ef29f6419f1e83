// expect: wrong result for
// The largest of the first 400 numbers alone.
#include <math.h>

void log_sum_exp(const float *x, float *y, int rows, int n, float scale, float shift)
{
    for (int r = 0; r < rows; r++) {
        float largest = -INFINITY, sum = 0;
        for (int j = 0; j < n && j < 400; j++)
            largest = fmaxf(largest, scale * x[r * n + j] + shift);
        for (int j = 0; j < n; j++)
            sum += expf(scale * x[r * n + j] + shift - largest);
        y[r] = largest + logf(sum);
    }
}
