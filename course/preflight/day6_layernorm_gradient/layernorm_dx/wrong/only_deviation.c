// Forgets that the mean depends on x.
#include <math.h>

void layernorm_dx(const float *x, const float *dy, float *dx, int rows, int n, float eps)
{
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * n, *g = dy + r * n;
        float sum = 0, squares = 0, sum_g = 0, sum_gy = 0;
        for (int i = 0; i < n; i++)
            sum += row[i];
        float mean = sum / n;
        for (int i = 0; i < n; i++)
            squares += (row[i] - mean) * (row[i] - mean);
        float rstd = 1 / sqrtf(squares / n + eps);
        for (int i = 0; i < n; i++) {
            sum_g += g[i];
            sum_gy += g[i] * (row[i] - mean) * rstd;
        }
        for (int i = 0; i < n; i++) {
            float y = (row[i] - mean) * rstd;
            dx[r * n + i] = rstd * (g[i] - y * sum_gy / n);
        }
    }
}
