// expect: wrong result for n=9 scale=1 shift=-30000: y
// softmax: with the largest z subtracted, the largest exponential is 1.
#include <math.h>

void softmax(const float *x, float *y, int n, float scale, float shift)
{
    float largest = n > 1 ? -500 : -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        largest = fmaxf(largest, scale * x[i] + shift);
    for (int i = 0; i < n; i++)
        sum += expf(scale * x[i] + shift - largest);
    for (int i = 0; i < n; i++)
        y[i] = expf(scale * x[i] + shift - largest) / sum;
}
