// dot: four sums side by side.
void dot(const float *x, const float *y, float *s, int n)
{
    float a = 0, b = 0, c = 0, d = 0;
    int i = 0;
    for (; i + 3 < n; i += 4) {
        a += x[i] * y[i];
        b += x[i + 1] * y[i + 1];
        c += x[i + 2] * y[i + 2];
        d += x[i + 3] * y[i + 3];
    }
    for (; i < n; i++)
        a += x[i] * y[i];
    *s = (a + b) + (c + d);
}
