// expect: wrong result for
// The variance as a difference of two large sums.
#include <math.h>
void layernorm(const float *x, float *y, float *mean, float *rstd, int rows, int n, float eps)
{
    for (int r = 0; r < rows; r++) {
        float sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            sum += x[r * n + i];
            squares += x[r * n + i] * x[r * n + i];
        }
        mean[r] = sum / n;
        rstd[r] = 1 / sqrtf(squares / n - mean[r] * mean[r] + eps);
        for (int i = 0; i < n; i++)
            y[r * n + i] = (x[r * n + i] - mean[r]) * rstd[r];
    }
}
