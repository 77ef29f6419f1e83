// expect: wrong result for n=
// The largest of the first 400 numbers alone.
#include <math.h>
void softmax(const float *x, float *y, int n, float scale, float shift)
{
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < n && i < 400; i++)
        largest = fmaxf(largest, scale * x[i] + shift);
    for (int i = 0; i < n; i++)
        sum += expf(scale * x[i] + shift - largest);
    for (int i = 0; i < n; i++)
        y[i] = expf(scale * x[i] + shift - largest) / sum;
}
