// Right; but the sum is written to memory in every step.
void dot(const float *x, const float *y, float *s, int n)
{
    s[0] = 0;
    for (int i = 0; i < n; i++)
        s[0] += x[i] * y[i];
}
