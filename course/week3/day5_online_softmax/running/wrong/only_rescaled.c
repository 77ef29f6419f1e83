// Forgets the new term.
#include <math.h>

void running(const float *x, float *m, float *l, int n)
{
    float most = x[0], sum = 0;
    for (int i = 0; i < n; i++) {
        float larger = fmaxf(most, x[i]);
        sum = sum * expf(most - larger);
        most = larger;
        m[i] = most;
        l[i] = sum;
    }
}
