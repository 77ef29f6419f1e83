// log_sum_exp: z is computed without its shift, which comes back at the end.
#include <math.h>
void log_sum_exp(const float *x, float *y, int rows, int n, float scale, float shift)
{
    for (const float *row = x; row < x + rows * n; row += n, y++) {
        float most = scale * row[0];
        for (int j = 1; j < n; j++)
            most = fmaxf(most, scale * row[j]);
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += exp(scale * row[j] - most);
        *y = shift + most + (float)log(sum);
    }
}
