// log_sum_exp: for each of the rows of x, the logarithm of the sum of all exp(z[j]), where
// z[j] = scale * x[j] + shift. x has rows x n elements.
#include <math.h>

void log_sum_exp(const float *x, float *y, int rows, int n, float scale, float shift)
{
    for (int r = 0; r < rows; r++) {
        // TODO: take the largest z out of the sum, and put it back after the logarithm.
        float sum = 0;
        for (int j = 0; j < n; j++)
            sum += expf(scale * x[r * n + j] + shift);
        y[r] = logf(sum);
    }
}
