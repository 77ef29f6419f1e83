#include <math.h>
void running(const float *x, float *m, float *l, int n)
{
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > most) {
            sum = sum * expf(most - x[i]) + 1;
            most = x[i];
        } else
            sum += expf(x[i] - most);
        m[i] = most;
        l[i] = sum;
    }
}
