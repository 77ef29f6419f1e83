// expect: wrong result for
// The largest is never below 0.
#include <math.h>

void running(const float *x, float *m, float *l, int n)
{
    float most = fmaxf(x[0], 0), sum = 0;
    for (int i = 0; i < n; i++) {
        float larger = fmaxf(most, x[i]);
        sum = sum * expf(most - larger) + expf(x[i] - larger);
        most = larger;
        m[i] = most;
        l[i] = sum;
    }
}
