// expect: wrong result for n=[0-9]+: s
void dot(const float *x, const float *y, float *s, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += (long)(4 * x[i]) * (long)(4 * y[i]);
    s[0] = sum / 16.0f;
}
