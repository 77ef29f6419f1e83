// Of two in the middle, takes the upper one.
void median(const float *x, float *out, int n, int warm)
{
    for (int i = warm; i < n; i++) {
        int before = 0;
        for (int j = warm; j < n; j++)
            before += x[j] < x[i] || (x[j] == x[i] && j < i);
        if (before == (n - warm) / 2)
            out[0] = x[i];
    }
}
