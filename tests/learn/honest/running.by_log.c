// running: the largest first, then the sum against it, number by number.
#include <math.h>
void running(const float *x, float *m, float *l, int n)
{
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > most) {
            sum = sum > 0 ? sum * expf(most - x[i]) : 0;
            most = x[i];
        }
        sum += expf(x[i] - most);
        m[i] = most;
        l[i] = sum;
    }
}
