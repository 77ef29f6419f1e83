// layernorm: one pass, sums in double.
#include <math.h>
void layernorm(const float *x, float *y, float *mean, float *rstd, int rows, int n, float eps)
{
    for (int r = 0; r < rows; r++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            double v = x[r * n + i];
            sum += v;
            squares += v * v;
        }
        double m = sum / n, inverse = 1 / sqrt(squares / n - m * m + eps);
        mean[r] = (float)m;
        rstd[r] = (float)inverse;
        for (int i = 0; i < n; i++)
            y[r * n + i] = (float)((x[r * n + i] - m) * inverse);
    }
}
