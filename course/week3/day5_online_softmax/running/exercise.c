// running (kata): after each x[i], m[i] = the largest so far and l[i] = the sum of exp(x - m[i]) so far.
#include <math.h>

void running(const float *x, float *m, float *l, int n)
{
    // TODO: one loop, two running numbers.
}
