// Cuts large values off: no overflow, and another function.
#include <math.h>

void softmax(const float *x, float *y, int n, float scale, float shift)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += expf(fminf(scale * x[i] + shift, 80));
    for (int i = 0; i < n; i++)
        y[i] = expf(fminf(scale * x[i] + shift, 80)) / sum;
}
