// n elements have the indices 0 to n - 1.
void dot(const float *x, const float *y, float *s, int n)
{
    float sum = 0;
    for (int i = 0; i <= n; i++)
        sum += x[i] * y[i];
    s[0] = sum;
}
