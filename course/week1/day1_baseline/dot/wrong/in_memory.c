// The sum lives in memory, and nobody has put 0 there.
void dot(const float *x, const float *y, float *s, int n)
{
    for (int i = 0; i < n; i++)
        s[0] += x[i] * y[i];
}
