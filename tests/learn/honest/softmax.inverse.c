// softmax: -FLT_MAX, exponentials kept in y, times the inverse of their sum.
#include <math.h>
void softmax(const float *x, float *y, int n, float scale, float shift)
{
    float largest = -3.402823e38f, sum = 0;
    for (int i = 0; i < n; i++) {
        float z = scale * x[i] + shift;
        if (z > largest)
            largest = z;
    }
    for (int i = 0; i < n; i++)
        sum += y[i] = expf(scale * x[i] + shift - largest);
    float inverse = 1 / sum;
    for (int i = 0; i < n; i++)
        y[i] *= inverse;
}
