// softmax: from the end, with pointers.
#include <math.h>
void softmax(const float *x, float *y, int n, float scale, float shift)
{
    (void)shift; // it cancels
    float top = -INFINITY, sum = 0;
    const float *end = x + n;
    while (end-- > x)
        top = fmaxf(top, scale * *end);
    for (int i = n - 1; i >= 0; i--)
        sum += y[i] = expf(scale * x[i] - top);
    for (float *p = y; p < y + n; p++)
        *p /= sum;
}
