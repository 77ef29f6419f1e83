// expect: wrong result for 
// A largest value of the last 350 numbers.
#include <math.h>

void log_sum_exp(const float *x, float *y, int rows, int n, float scale, float shift)
{
    for (int r = 0; r < rows; r++) {
        float largest = -INFINITY, sum = 0;
        for (int j = n > 350 ? n - 350 : 0; j < n; j++)
            largest = fmaxf(largest, scale * x[r * n + j] + shift);
        for (int j = 0; j < n; j++)
            sum += expf(scale * x[r * n + j] + shift - largest);
        y[r] = largest + logf(sum);
    }
}
