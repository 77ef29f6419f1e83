// softmax: y[i] = exp(z[i]) / (sum of all exp(z[j])), where z[i] = scale * x[i] + shift.
//
// On paper this is right. But a float ends at about 3.4e38, and exp(89) is beyond that.
#include <math.h>

void softmax(const float *x, float *y, int n, float scale, float shift)
{
    // TODO: subtract something from every z, such that exp() neither overflows nor becomes 0
    // everywhere.
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += expf(scale * x[i] + shift);
    for (int i = 0; i < n; i++)
        y[i] = expf(scale * x[i] + shift) / sum;
}
