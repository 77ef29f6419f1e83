// expect: wrong result for n=[0-9]+ warm=[0-9]+: out
// median (kata): the sample with (count - 1) / 2 samples before it.
void median(const float *x, float *out, int n, int warm)
{
    for (int i = warm; i < n; i++) {
        int before = 0;
        for (int j = warm; j < n; j++)
            before += x[j] < x[i];
        if (before == (n - warm - 1) / 2)
            out[0] = x[i];
    }
}
